import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, nodes, type Pod, pods } from '@castellan/machinery';
import { endedPodsController, unscheduledPodsController } from '../src/pod-gc/ended-pods.js';
import { lostPodsController } from '../src/pod-gc/lost-pods.js';
import { Bench } from './bench.js';

interface Facts {
  readonly nodeName?: string;
  readonly phase?: string;
  readonly createdAt?: string;
  readonly isDeleted?: boolean;
  readonly finalizers?: readonly string[];
}

function pod(name: string, facts: Facts = {}): Pod {
  const { nodeName = '', phase = 'Running', createdAt = '00:00:00', isDeleted = false, finalizers = [] } = facts;
  return {
    metadata: {
      ...{ namespace: 'default', name, uid: `uid-${name}`, finalizers: ['held', ...finalizers] },
      creationTimestamp: `2026-01-01T${createdAt}Z`,
      ...(isDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: { containers: [], ...(nodeName === '' ? {} : { nodeName }) },
    status: { phase },
  };
}

function node(name: string, isReady: boolean, taints: readonly { key: string; effect: string }[] = []): Node {
  const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }];
  return { metadata: { name, uid: `uid-${name}` }, spec: { taints }, status: { conditions } };
}

async function deleted(bench: Bench): Promise<readonly string[]> {
  const { items } = await bench.server.list(pods);
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    .map(({ metadata }) => metadata.name ?? '');
}

async function benchOf(controller: ConstructorParameters<typeof Bench>[0], ...objects: readonly Pod[]): Promise<Bench> {
  const bench = new Bench(controller);
  bench.server.serve(nodes);
  for (const object of objects) await bench.server.add(pods, object);
  return bench;
}

const gone = { name: 'gone' };

test('PG1 pods of a node that is gone fail and go, 40 s after it was missed first', async () => {
  const bench = await benchOf(lostPodsController(), pod('a', { nodeName: 'gone' }), pod('b'));
  assert.deepEqual(await bench.reconcile(gone), { requeueAfterMs: 40_000 });
  assert.deepEqual(await deleted(bench), []);
  await bench.world.advance(40_000);
  await bench.reconcile(gone);
  assert.deepEqual(await deleted(bench), ['a']);
  const { status } = await bench.server.get(pods, { namespace: 'default', name: 'a' });
  assert.equal(status?.phase, 'Failed');
  assert.equal(status?.conditions?.[0]?.message, 'PodGC: node no longer exists');
});

test('PG1 a node that is there, or comes back, keeps its pods', async () => {
  const bench = await benchOf(lostPodsController(), pod('a', { nodeName: 'gone' }));
  await bench.reconcile(gone);
  await bench.world.advance(40_000);
  await bench.sync();
  await bench.server.add(nodes, node('gone', true));
  assert.equal(await bench.reconcileStale(gone), undefined);
  assert.deepEqual(await deleted(bench), []);
});

test('PG2 of a node that is out of service, pods that are to end go at once', async () => {
  const taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
  const going = pod('a', { nodeName: 'n', isDeleted: true });
  for (const [isReady, taints, count] of [
    [false, [taint], 2],
    [true, [taint], 0],
    [false, [], 0],
  ] as const) {
    const bench = await benchOf(lostPodsController(), going, pod('b', { nodeName: 'n' }));
    await bench.server.add(nodes, node('n', isReady, taints));
    await bench.reconcile({ name: 'n' });
    assert.equal(bench.server.writes.length, count, `ready: ${isReady}, taints: ${taints.length}`);
  }
});

test('PG3 of pods that have ended, the oldest beyond the limit go', async () => {
  const ended = ['02', '01', '03'].map((minute) =>
    pod(`p${minute}`, { phase: 'Succeeded', createdAt: `00:${minute}:00` }),
  );
  const bench = await benchOf(endedPodsController(2), ...ended, pod('running'));
  const [key] = bench.keysFor(pods, pod('any', { phase: 'Failed' }));
  assert.ok(key !== undefined);
  await bench.reconcile(key);
  assert.deepEqual(await deleted(bench), ['p01']);
});

test('PG4 a pod that was told to end before any node had it goes', async () => {
  const bench = await benchOf(
    unscheduledPodsController(),
    pod('a', { isDeleted: true }),
    pod('b', { isDeleted: true, nodeName: 'n' }),
  );
  for (const name of ['a', 'b']) await bench.reconcile({ namespace: 'default', name });
  assert.deepEqual(bench.server.writes, ['patch pods/status default/a', 'delete pods default/a']);
});
