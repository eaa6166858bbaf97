import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { detectCgroups } from '../src/sandbox/cgroups.js';
import { bridgeName } from '../src/sandbox/plane-network.js';
import { isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
import { cannotRunPods, until } from './machine.js';

const layout = cannotRunPods() === false ? detectCgroups('castellan-test') : undefined;
const skip = cannotRunPods() || (layout?.kind === 'none' ? `no control groups: ${layout.why}` : false);
const cpuRoot = layout?.kind === 'v1' ? layout.cpu : layout?.kind === 'v2' ? layout.root : '';

test(
  'N44 a container that takes more memory than it may is killed: OOMKilled with 137, told of as its last state too',
  { skip },
  withAgent(async ({ cluster, podThat }) => {
    const hog = 'head -c 200000000 /dev/zero | tail >/dev/null; exit $?';
    const main = { resources: { limits: { memory: '32Mi' } } };
    await cluster.create(pods, shellPod('a', hog, { main }));
    const pod = await podThat(
      'a',
      'to back off',
      (now) => mainStatus(now).state?.waiting?.reason === 'CrashLoopBackOff',
    );
    const { terminated } = mainStatus(pod).lastState ?? {};
    assert.deepEqual([terminated?.reason, terminated?.exitCode], ['OOMKilled', 137]);
  }),
);

test(
  'N44 a fork bomb takes no more processes than a pod may have, and ends with its pod; nothing of its groups is left',
  { skip },
  withAgent(async ({ cluster, podThat, podGone }, directory) => {
    const bomb = 'bomb() { bomb | bomb & }; bomb; while :; do sleep 1; done';
    await cluster.create(pods, shellPod('bomb', bomb, { terminationGracePeriodSeconds: 1 }));
    const { metadata } = await podThat('bomb', 'to run', (pod) => mainStatus(pod).state?.running !== undefined);
    const groups = join(cpuRoot, bridgeName(directory), metadata.uid ?? '');
    assert.equal(existsSync(groups), true);
    await until('the limit to be reached', () => wasRefused(directory, metadata.uid ?? ''));
    // Another pod starts meanwhile.
    await cluster.create(pods, shellPod('other', 'exec sleep 600'));
    await podThat('other', 'to be ready', isReady);
    await cluster.delete(pods, { namespace: 'default', name: 'bomb' });
    await podGone('bomb');
    assert.equal(existsSync(groups), false);
  }),
);

/** The kernel counts the processes that it refused to a pod. */
function wasRefused(directory: string, uid: string): boolean {
  const root = layout?.kind === 'v1' ? (layout.pids ?? '') : cpuRoot;
  const events = readFileSync(join(root, bridgeName(directory), uid, 'pids.events'), 'utf8');
  return /^max [1-9]/m.test(events);
}
