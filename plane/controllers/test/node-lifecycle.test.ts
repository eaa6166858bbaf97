import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, leases, type Node, nodes, type Pod, pods, type Taint } from '@castellan/machinery';
import { EvictionPace } from '../src/nodes/eviction-pace.js';
import { nodeLifecycleController } from '../src/nodes/node-lifecycle-controller.js';
import { changedTaints } from '../src/nodes/node-taints.js';
import { Bench } from './bench.js';

const now = '2026-01-01T00:00:00Z';
const key = { name: 'n' };
const leaseKey = { namespace: 'kube-node-lease', name: 'n' };
const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

function nodeWith(ready: string | undefined, more: Partial<Node> = {}): Node {
  const conditions = ready === undefined ? [] : [{ type: 'Ready', status: ready }];
  return { metadata: key, status: { conditions }, ...more };
}

/** A node that is heard of, another that is well, and one ready pod on the first. */
async function lifecycle(): Promise<Bench> {
  const bench = new Bench(nodeLifecycleController());
  for (const type of [nodes, leases, pods]) bench.server.serve(type);
  await bench.server.add(nodes, nodeWith('True'));
  await bench.server.add(nodes, { ...nodeWith('True'), metadata: { name: 'other' } });
  await bench.server.add(leases, { metadata: leaseKey, spec: { renewTime: '2026-01-01T00:00:00.000000Z' } });
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  await bench.server.add(pods, {
    metadata: { namespace: 'default', name: 'p' },
    spec: { nodeName: 'n', containers: [] },
    status,
  });
  return bench;
}

const nodeOf = (bench: Bench) => bench.server.get<Node>(nodes, key);
const readyOf = (object: Node | Pod) =>
  findCondition<{ type: string; status: string }>(object.status?.conditions, 'Ready');

test('NL1: a node of which nothing is heard for 50 s is unknown in all that only its agent knows', async () => {
  const bench = await lifecycle();
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 50_001 });
  await bench.world.advance(50_000);
  await bench.reconcile(key);
  assert.equal(readyOf(await nodeOf(bench))?.status, 'True');
  await bench.world.advance(1);
  await bench.reconcile(key);
  const told = (await nodeOf(bench)).status?.conditions;
  assert.deepEqual(
    told?.map(({ type, status, reason }) => `${type} ${status} ${reason}`),
    [
      'Ready Unknown NodeStatusUnknown',
      'MemoryPressure Unknown NodeStatusNeverUpdated',
      'DiskPressure Unknown NodeStatusNeverUpdated',
      'PIDPressure Unknown NodeStatusNeverUpdated',
    ],
  );
  assert.equal(told?.[0]?.message, 'Kubelet stopped posting node status.');
  assert.deepEqual(
    bench.notes.slice(0, 2).map(({ reason, message }) => `${reason}: ${message}`),
    [
      'RegisteredNode: Node n event: Registered Node n in Controller',
      'NodeNotReady: Node n status is now: NodeNotReady',
    ],
  );
});

test('NL1: a Lease that is renewed, and a status that is written, both say that the node lives', async () => {
  const bench = await lifecycle();
  await bench.reconcile(key);
  await bench.world.advance(40_000);
  const renewed = { spec: { renewTime: '2026-01-01T00:00:40.000000Z' } };
  await bench.server.patch(leases, leaseKey, { type: 'merge', body: renewed });
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 50_001 });
  await bench.world.advance(40_000);
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:01:20Z' }];
  await bench.server.patch(nodes, key, { type: 'merge', body: { status: { conditions } } });
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 50_001 });
});

test('NL1: a node that never said anything gets 60 s; one that is ready and never had a Lease is left alone', async () => {
  const bench = await lifecycle();
  await bench.server.patch(nodes, key, { type: 'merge', body: { status: { conditions: null } } });
  await bench.reconcile(key);
  await bench.reconcile({ name: 'other' });
  await bench.world.advance(60_000);
  await bench.reconcile(key);
  assert.equal(readyOf(await nodeOf(bench)), undefined);
  await bench.world.advance(1);
  await bench.reconcile(key);
  await bench.reconcile({ name: 'other' });
  assert.equal(readyOf(await nodeOf(bench))?.status, 'Unknown');
  assert.equal(readyOf(await bench.server.get<Node>(nodes, { name: 'other' }))?.status, 'True');
});

test('NL2: pods of such a node are not ready, and are told so once', async () => {
  const bench = await lifecycle();
  await bench.reconcile(key);
  await bench.world.advance(50_001);
  await bench.reconcile(key);
  await bench.reconcile(key);
  const pod = await bench.server.get<Pod>(pods, { namespace: 'default', name: 'p' });
  assert.equal(readyOf(pod)?.status, 'False');
  assert.deepEqual(
    bench.notes.filter(({ message }) => message === 'Node is not ready').map(({ type, reason }) => `${type} ${reason}`),
    ['Warning NodeNotReady'],
  );
});

test('NL3: taints say what the conditions say, and those of others stay', async () => {
  const other = { key: 'a', effect: 'NoExecute' };
  const taintsOf = (ready: string | undefined, taints: readonly Taint[], leave: 'now' | 'later' | 'never' = 'never') =>
    (changedTaints(nodeWith(ready, { spec: { taints } }), leave, now) ?? taints).map(
      (taint) => `${taint.key}:${taint.effect}`,
    );
  assert.deepEqual(taintsOf('False', [other]), ['a:NoExecute', `${notReady}:NoSchedule`]);
  assert.deepEqual(taintsOf('Unknown', [other]), ['a:NoExecute', `${unreachable}:NoSchedule`]);
  assert.deepEqual(taintsOf('True', [other, { key: notReady, effect: 'NoSchedule' }]), ['a:NoExecute']);
  assert.deepEqual(taintsOf(undefined, [{ key: notReady, effect: 'NoSchedule' }]), [`${notReady}:NoSchedule`]);
  assert.deepEqual(taintsOf('Unknown', [], 'later'), [`${unreachable}:NoSchedule`]);
  assert.deepEqual(taintsOf('Unknown', [], 'now'), [`${unreachable}:NoSchedule`, `${unreachable}:NoExecute`]);
  assert.deepEqual(taintsOf('Unknown', [{ key: notReady, effect: 'NoExecute' }], 'later'), [
    `${unreachable}:NoSchedule`,
    `${unreachable}:NoExecute`,
  ]);
});

test('NL3: a node that becomes unknown is tainted in the same pass, and a second one writes nothing', async () => {
  const bench = await lifecycle();
  await bench.reconcile(key);
  await bench.world.advance(50_001);
  await bench.reconcile(key);
  const { taints } = (await nodeOf(bench)).spec ?? {};
  assert.deepEqual(
    taints?.map((taint) => `${taint.key}:${taint.effect}`),
    [`${unreachable}:NoSchedule`, `${unreachable}:NoExecute`],
  );
  const { length } = bench.server.writes;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, length);
});

test('NL3: pressure on memory, disk and process numbers, a missing network and cordon are taints too', () => {
  const conditions = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'].map((type) => ({
    type,
    status: 'True',
  }));
  const node: Node = { metadata: key, spec: { unschedulable: true }, status: { conditions } };
  assert.deepEqual(
    changedTaints(node, 'never', now),
    ['memory-pressure', 'disk-pressure', 'pid-pressure', 'network-unavailable', 'unschedulable'].map((name) => ({
      key: `node.kubernetes.io/${name}`,
      effect: 'NoSchedule',
      timeAdded: now,
    })),
  );
});

test('NL4: one node in 10 s loses its pods, and when it has had its turn it keeps its taint', async () => {
  const named = (name: string, ready: string): Node => ({ ...nodeWith(ready), metadata: { name } });
  const [a, b] = [named('a', 'Unknown'), named('b', 'Unknown')];
  const all = [a, b, named('c', 'True')];
  const pace = new EvictionPace();
  assert.equal(pace.ask(a, all, 1_000), 0);
  assert.equal(pace.ask(b, all, 4_000), 7_000);
  assert.equal(pace.ask(b, all, 11_000), 0);
  const tainted = { ...a, spec: { taints: [{ key: unreachable, effect: 'NoExecute' }] } };
  assert.equal(pace.ask(tainted, all, 12_000), 0);
});

test('NL4: when no node is well, or most of a small zone is not, no pod is driven off', () => {
  const zone = { 'topology.kubernetes.io/zone': 'z' };
  const named = (name: string, ready: string): Node => ({ ...nodeWith(ready), metadata: { name, labels: zone } });
  const bad = ['a', 'b', 'c'].map((name) => named(name, 'Unknown'));
  const [first] = bad;
  assert.ok(first !== undefined);
  assert.equal(new EvictionPace().ask(first, bad, 0), undefined);
  assert.equal(new EvictionPace().ask(first, [...bad, named('d', 'True')], 0), undefined);
  const elsewhere = { ...nodeWith('True'), metadata: { name: 'e' } };
  assert.equal(new EvictionPace().ask(first, [...bad, elsewhere], 0), 0);
});
