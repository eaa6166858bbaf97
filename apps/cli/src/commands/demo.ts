import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context, Run } from '../context.js';
import { filesIn } from '../data-directory.js';
import { Phases } from '../demo/phases.js';
import { showInstance } from '../demo/show-instance.js';
import { CliError, exitCodes } from '../errors.js';
import { stopPlane, untilStopped } from '../plane/lifetime.js';
import { readLiveProcessRecord } from '../plane/process-record.js';
import { servePlane } from '../plane/serve.js';
import { needsUserNamespace, parseUpOptions } from '../plane/up-options.js';

const startDeadlineMs = 60_000;
const stopDeadlineMs = 60_000;
const defaultAvailableSeconds = 180;

/**
 * What `npm start` shows: a plane, the plan of an etcd cluster, the plan carried out, and data that stays. With `--once`
 * and no data directory of the user's choice, all of it lives in a temporary one.
 */
export const demo: Run = async (given, options) => {
  const isOnce = options.once === true;
  const isTemporary = isOnce && !given.isDataDirectoryChosen;
  const dataDirectory = isTemporary ? await mkdtemp(join(tmpdir(), 'castellan-demo-')) : given.dataDirectory;
  const context: Context = { ...given, dataDirectory };
  const { reporter, world } = context;
  const upOptions = { ...parseUpOptions(options), operators: ['etcd'] };
  refuseSecondPlane(dataDirectory);
  if (needsUserNamespace(context, upOptions)) {
    const { runInUserNamespace } = await import('../plane/user-namespace.js');
    const { port } = upOptions;
    const status = await runInUserNamespace(context, { port, args: context.commandLine, announce: () => undefined });
    if (isTemporary && status === exitCodes.ok) await rm(dataDirectory, { recursive: true, force: true });
    return status;
  }
  const phases = new Phases(context);
  reporter.heading(`Castellan on this machine (Node ${process.versions.node}, data in ${dataDirectory})`);
  const served = await phases.run('plane started', startDeadlineMs, () =>
    servePlane(context, upOptions, (name, ms) => reporter.line(`${name} ${Math.round(ms)} ms`)),
  );
  try {
    await showInstance(context, {
      client: served.plane.client,
      phases,
      deadlineMs: 1000 * (typeof options.deadline === 'number' ? options.deadline : defaultAvailableSeconds),
      failed: served.failed,
      isOnce,
    });
    if (!isOnce) await untilStopped(context, served);
  } finally {
    await phases.run('etcd cluster and plane stopped', stopDeadlineMs, () => stopPlane(world, served));
  }
  if (isTemporary) await rm(dataDirectory, { recursive: true, force: true });
  reporter.line(isOnce ? 'everything was torn down' : 'the next npm start resumes this cluster with its data');
  return undefined;
};

function refuseSecondPlane(dataDirectory: string): void {
  const running = readLiveProcessRecord(filesIn(dataDirectory).processRecord);
  if (running === undefined) return;
  throw new CliError('MACHINE_NOT_READY', `A plane already runs on ${dataDirectory} (pid ${running.pid}).`, {
    next: '`castellan status` shows it, `castellan down` stops it; or take another directory with `--data-dir DIR`',
  });
}
