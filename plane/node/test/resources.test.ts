import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { detectCgroups } from '../src/sandbox/cgroups.js';
import { bridgeName } from '../src/sandbox/plane-network.js';
import { conditionOf, isReady, mainStatus, shellPod, withAgent } from './agent-under-test.js';
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

test(
  'N49 resources are changed while a container runs, or with a restart where it asks for one; what cannot be done is told',
  { skip },
  withAgent(async ({ cluster, podThat, eventsOf }, directory) => {
    const key = { namespace: 'default', name: 'a' };
    const small = { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '250m', memory: '64Mi' } };
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }];
    const pod = shellPod('a', 'exec sleep 600', { main: { resources: small, resizePolicy } });
    await cluster.create(pods, pod);
    const { metadata } = await podThat('a', 'to be ready', isReady);
    const [main] = pod.spec?.containers ?? [];
    const resize = async (name: string, resources: object, container: object | undefined) => {
      const body = { spec: { containers: [{ ...container, resources }] } };
      await cluster.patch(pods, { ...key, name }, { type: 'merge', body });
    };
    await resize('a', { ...small, limits: { ...small.limits, cpu: '1500m' } }, main);
    const grown = await podThat('a', 'to have more', (now) => mainStatus(now).resources?.limits?.cpu === '1500m');
    assert.equal(mainStatus(grown).restartCount, 0);
    assert.equal(quotaOf(directory, metadata.uid ?? ''), 150_000);
    await until('the event', async () => (await eventsOf('a')).includes('ResizeCompleted Container main was resized'));
    await resize('a', { requests: small.requests, limits: { cpu: '1500m', memory: '128Mi' } }, main);
    const again = await podThat('a', 'to begin anew', (now) => isReady(now) && mainStatus(now).restartCount === 1);
    assert.equal(mainStatus(again).resources?.limits?.memory, '128Mi');
    const free = shellPod('free', 'exec sleep 600');
    await cluster.create(pods, free);
    await podThat('free', 'to be ready', isReady);
    await resize('free', { limits: { memory: '64Mi' } }, free.spec?.containers[0]);
    const refused = await podThat('free', 'to be told', (now) => conditionOf(now, 'PodResizePending') === 'True');
    assert.equal(mainStatus(refused).resources?.limits, undefined);
    await until('the event', async () =>
      (await eventsOf('free')).includes('ResizeInfeasible container main was started without a limit on memory'),
    );
  }),
);

/** Microseconds of each tenth of a second that the container may run. */
function quotaOf(directory: string, uid: string): number {
  const file = layout?.kind === 'v1' ? 'cpu.cfs_quota_us' : 'cpu.max';
  return Number.parseInt(readFileSync(join(cpuRoot, bridgeName(directory), uid, 'main-0', file), 'utf8'), 10);
}

/** The kernel counts the processes that it refused to a pod. */
function wasRefused(directory: string, uid: string): boolean {
  const root = layout?.kind === 'v1' ? (layout.pids ?? '') : cpuRoot;
  const events = readFileSync(join(root, bridgeName(directory), uid, 'pids.events'), 'utf8');
  return /^max [1-9]/m.test(events);
}
