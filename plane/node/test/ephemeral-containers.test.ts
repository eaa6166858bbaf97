import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { isReady, mainStatus, shellPod, startAgent, withAgent } from './agent-under-test.js';
import { cannotRunPods, until, withDataDirectory } from './machine.js';

const skip = cannotRunPods();
const key = { namespace: 'default', name: 'a' };

function debugging(name: string, script: string, rest: object = {}) {
  const container = { name, image: 'busybox', command: ['sh', '-c', script], ...rest };
  return { type: 'merge', body: { spec: { ephemeralContainers: [container] } } } as const;
}

test(
  'N47 a container that is added to a running pod sees its target’s processes and network, is never restarted, and ends with the pod',
  { skip },
  withAgent(async ({ cluster, podThat, podGone, agent }, directory) => {
    await cluster.create(pods, shellPod('a', 'exec sleep 12345'));
    await podThat('a', 'to be ready', isReady);
    const look = 'tr "\\0" " " </proc/1/cmdline; echo; grep -l 12345 /proc/[0-9]*/cmdline | wc -l; exec sleep 54321';
    const patch = debugging('debugger', look, { targetContainerName: 'main' });
    await cluster.patch(pods, key, patch);
    const pod = await podThat('a', 'to be looked into', ({ status }) => {
      return status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined;
    });
    assert.equal(isReady(pod), true);
    const log = await until('its log', async () => {
      const request = { ...key, pod: 'a', container: 'debugger', follow: false, previous: false, timestamps: false };
      const chunks: Uint8Array[] = [];
      for await (const chunk of agent.logs(request, AbortSignal.timeout(30_000))) chunks.push(chunk);
      const lines = Buffer.concat(chunks).toString('utf8').split('\n');
      return lines.length >= 3 && lines;
    });
    assert.match(log[0] ?? '', /^bwrap /);
    assert.equal(Number(log[1]) >= 1, true, 'the program of the target is among the processes');
    await cluster.delete(pods, key, { gracePeriodSeconds: 1 });
    await podGone('a');
    await until('the files to be gone', () => readdirSync(join(directory, 'pods')).length === 0);
    assert.deepEqual(running('54321'), []);
  }),
);

test('N47 an ephemeral container is adopted by the next agent, and told of when it ends', { skip }, () =>
  withDataDirectory(async (directory) => {
    const first = await startAgent(directory);
    await first.cluster.create(pods, shellPod('a', 'exec sleep 600'));
    await first.podThat('a', 'to be ready', isReady);
    const wait = 'mkfifo /tmp/gate; read code </tmp/gate; exit $code';
    await first.cluster.patch(pods, key, debugging('debugger', wait, { targetContainerName: 'main' }));
    const runs = (pod: Parameters<typeof isReady>[0]) =>
      pod.status?.ephemeralContainerStatuses?.[0]?.state?.running !== undefined;
    const pod = await first.podThat('a', 'to be looked into', runs);
    await first.stop('keep');
    const second = await startAgent(directory, { cluster: first.cluster });
    try {
      await second.podThat('a', 'to be as it was', (now) => isReady(now) && runs(now));
      const gate = join(directory, 'pods', pod.metadata.uid ?? '', 'containers/debugger/0/layer/tmp/gate');
      writeFileSync(gate, '3\n');
      const over = await second.podThat('a', 'to be told of its end', ({ status }) => {
        return status?.ephemeralContainerStatuses?.[0]?.state?.terminated !== undefined;
      });
      assert.equal(over.status?.ephemeralContainerStatuses?.[0]?.state?.terminated?.exitCode, 3);
      assert.deepEqual([over.status?.phase, mainStatus(over).restartCount], ['Running', 0]);
    } finally {
      await second.stop('stop');
    }
  }),
);

test(
  'N50 containers that share their processes see one another, and one that ends is restarted beside the others',
  { skip },
  withAgent(async ({ cluster, podThat, podGone }, directory) => {
    const pod = shellPod('a', 'exec sleep 23456', { shareProcessNamespace: true });
    const look =
      'until grep -q 23456 /proc/[0-9]*/cmdline; do sleep 0.05; done; mkfifo /tmp/gate; read x </tmp/gate; exit 1';
    const second = { name: 'second', image: 'busybox', command: ['sh', '-c', look] };
    await cluster.create(pods, {
      ...pod,
      spec: { ...pod.spec, containers: [...(pod.spec?.containers ?? []), second] },
    });
    const { metadata } = await podThat('a', 'to be ready', isReady);
    const gate = join(directory, 'pods', metadata.uid ?? '', 'containers/second/0/layer/tmp/gate');
    await until('the second to have seen the first', () => existsSync(gate));
    writeFileSync(gate, 'go\n');
    const again = await podThat('a', 'to have restarted one', ({ status }) => {
      return status?.containerStatuses?.some(({ restartCount, ready }) => restartCount === 1 && ready) === true;
    });
    assert.deepEqual(
      again.status?.containerStatuses?.map(({ restartCount }) => restartCount),
      [0, 1],
    );
    await cluster.delete(pods, key, { gracePeriodSeconds: 1 });
    await podGone('a');
    assert.deepEqual(running('23456'), []);
  }),
);

/** The processes of this machine with a word on their command line. */
function running(word: string): readonly string[] {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).split('\0').includes(word));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
