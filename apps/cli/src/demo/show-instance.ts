import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@castellan/client';
import { etcdClusters } from '@castellan/etcd';
import { events } from '@castellan/machinery';
import type { Context } from '../context.js';
import { filesIn } from '../data-directory.js';
import { describeInstance } from '../etcd/describe-instance.js';
import type { InstanceView } from '../etcd/instance-view.js';
import { describePlan, planFor } from '../etcd/plan-view.js';
import { applyObject, nameForPeople } from '../manifest/apply-object.js';
import { findResource } from '../manifest/find-resource.js';
import { type ManifestObject, parseManifest } from '../manifest/parse-manifest.js';
import { formatSeconds } from '../output/text-reporter.js';
import { explainFailure } from './explain-failure.js';
import type { Phases } from './phases.js';
import { eventIdentity, followUntilAvailable } from './progress.js';
import { type WriteAndRead, writeAndRead } from './write-and-read.js';

const manifestName = 'etcd/cluster.yaml';
const applyDeadlineMs = 20_000;
const dataDeadlineMs = 30_000;

export interface ShowOptions {
  readonly client: Client;
  readonly phases: Phases;
  /** For the instance to become available. */
  readonly deadlineMs: number;
  /** Aborted when the plane fails. */
  readonly failed: AbortSignal;
  readonly isOnce: boolean;
}

/** Shows the plan of the example instance, applies it, follows it until it is available, writes and reads a key. */
export async function showInstance(context: Context, options: ShowOptions): Promise<void> {
  const { reporter, world } = context;
  const { client, phases, deadlineMs } = options;
  const signal = AbortSignal.any([context.stopSignal, options.failed]);
  const object = await readExample(context);
  const key = { namespace: object.metadata.namespace ?? 'default', name: object.metadata.name };
  try {
    const live = await client.find(etcdClusters, key);
    reporter.heading(
      live === undefined ? 'The plan' : 'The plan (resumed: the cluster of an earlier run is there with its data)',
    );
    for (const line of describePlan(await planFor(object, world, client))) reporter.line(line);
    const oldEvents = new Set((await client.list(events, { namespace: key.namespace })).items.map(eventIdentity));

    reporter.heading(`Carrying it out (…x stands for ${key.name}-x)`);
    await phases.run(`examples/${manifestName} applied`, applyDeadlineMs, async () => {
      const type = await findResource(client, object);
      reporter.line(`${nameForPeople(type, object)} ${await applyObject(client, type, object)}`);
    });
    const view = await phases.run('etcd cluster available', deadlineMs + 1_000, () =>
      followUntilAvailable({ client, world, reporter, key, deadlineMs, signal, oldEvents }),
    );

    reporter.heading('Writing through one member, reading from another');
    const data = await phases.run('key written and read back', dataDeadlineMs, () =>
      writeAndRead(world, view, reporter),
    );
    summarize(context, options, { view, data, isResumed: live !== undefined });
  } catch (error) {
    if (context.stopSignal.aborted) return; // Ctrl-C: the caller stops what runs.
    throw await explainFailure(error, context, { client, key });
  }
}

async function readExample({ examplesDirectory }: Context): Promise<ManifestObject> {
  const path = join(examplesDirectory, manifestName);
  const [object] = parseManifest(await readFile(path, 'utf8'), path);
  if (object === undefined) throw new Error(`${path} holds no object`);
  return object;
}

interface Outcome {
  readonly view: InstanceView;
  readonly data: WriteAndRead;
  readonly isResumed: boolean;
}

function summarize(context: Context, { phases, isOnce }: ShowOptions, { view, data, isResumed }: Outcome): void {
  const { kubeconfig, log } = filesIn(context.dataDirectory);
  const kubectl = `kubectl --kubeconfig ${kubeconfig}`;
  const leader = view.members.find(({ role }) => role === 'leader');
  context.reporter.heading('There it is');
  context.reporter.result({ instance: view, data, isResumed, kubeconfig, log, phases: phases.done }, () =>
    [
      describeInstance(view).trim(),
      '',
      `leader          ${leader?.name ?? 'none'}`,
      `client address  ${view.clientAddress} in pods${context.isInUserNamespace ? '' : `; from here ${leader?.clientUrl ?? ''}`}`,
      `kubeconfig      ${kubeconfig}`,
      `log             ${log}`,
      `seconds         ${phases.done.map(({ name, ms }) => `${name} ${formatSeconds(ms)}`).join(', ')}`,
      ...(isOnce
        ? []
        : [
            '',
            'Try, in another terminal:',
            `  ${kubectl} get etcd -o wide`,
            `  ${kubectl} patch etcd ${view.name} --type merge -p '{"spec":{"size":5}}'`,
            `  ${kubectl} delete pod ${leader?.name ?? ''}        (the leader: see it replaced)`,
            `  ${context.programName} status${context.isDataDirectoryChosen ? ` --data-dir ${context.dataDirectory}` : ''}`,
            '',
            'It runs until Ctrl-C, which stops all of it; the next npm start resumes it.',
          ]),
    ].join('\n'),
  );
}
