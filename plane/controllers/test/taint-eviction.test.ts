import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, nodes, type Pod, pods, type Toleration } from '@castellan/machinery';
import { evictionTimeMs } from '../src/nodes/eviction-time.js';
import { taintEvictionController } from '../src/nodes/taint-eviction-controller.js';
import { Bench } from './bench.js';

const key = { name: 'n' };
const start = '2026-01-01T00:00:00Z';
const startMs = Date.parse(start);
const unreachable = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: start };

function pod(name: string, tolerations: readonly Toleration[] = []): Pod {
  return {
    metadata: { namespace: 'default', name, uid: name },
    spec: { nodeName: 'n', containers: [], tolerations },
    status: { startTime: '2025-01-01T00:00:00Z' },
  };
}

const patient = (tolerationSeconds: number): Toleration => ({
  ...{ key: unreachable.key, operator: 'Exists', effect: 'NoExecute' },
  tolerationSeconds,
});

async function eviction(taints: readonly object[], ...all: readonly Pod[]): Promise<Bench> {
  const bench = new Bench(taintEvictionController());
  for (const type of [nodes, pods]) bench.server.serve(type);
  await bench.server.add(nodes, { metadata: key, spec: { taints } } as Node);
  for (const each of all) await bench.server.add(pods, each);
  return bench;
}

test('NL5: a pod without a toleration goes at once; one with a time when that has passed; one without end stays', async () => {
  const forever = { key: unreachable.key, operator: 'Exists' };
  const bench = await eviction([unreachable], pod('now'), pod('later', [patient(300)]), pod('never', [forever]));
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 300_000 });
  assert.deepEqual(bench.server.namesOf(pods), ['default/later', 'default/never']);
  await bench.world.advance(300_000);
  assert.equal(await bench.reconcile(key), undefined);
  assert.deepEqual(bench.server.namesOf(pods), ['default/never']);
  assert.deepEqual(
    bench.notes.map(({ reason, message }) => `${reason}: ${message}`),
    [
      'TaintManagerEviction: Marking for deletion Pod default/now',
      'TaintManagerEviction: Marking for deletion Pod default/later',
    ],
  );
});

test('NL5: a pod is told that it is a target of disruption before it is deleted', async () => {
  const bench = await eviction([unreachable], pod('p'));
  const seen: unknown[] = [];
  bench.server.beforeWrite = (write) => seen.push(write);
  await bench.reconcile(key);
  assert.deepEqual(seen, ['patch pods/status default/p', 'delete pods default/p']);
});

test('NL5: when the taint goes in time, the pod stays and is told so', async () => {
  const bench = await eviction([unreachable], pod('p', [patient(300)]));
  await bench.reconcile(key);
  await bench.server.patch(nodes, key, { type: 'merge', body: { spec: { taints: null } } });
  assert.equal(await bench.reconcile(key), undefined);
  assert.deepEqual(bench.server.namesOf(pods), ['default/p']);
  assert.equal(bench.notes.at(-1)?.message, 'Cancelling deletion of Pod default/p');
});

test('NL5: a taint that does not say when it was added counts from when it was seen', async () => {
  const { timeAdded: _, ...undated } = unreachable;
  const bench = await eviction([undated], pod('p', [patient(60)]));
  await bench.reconcile(key);
  await bench.world.advance(59_000);
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 1_000 });
});

test('NL5: of several taints the most impatient decides, and a pod that came later has its time from then on', () => {
  const other = { key: 'maintenance', effect: 'NoExecute' };
  const tolerations = [patient(300), { key: 'maintenance', operator: 'Exists', tolerationSeconds: 10 }];
  const at = (taints: readonly (typeof unreachable | typeof other)[], each: Pod) =>
    evictionTimeMs(each, taints, () => startMs);
  assert.equal(at([unreachable, other], pod('p', tolerations)), startMs + 10_000);
  assert.equal(at([unreachable], pod('p', tolerations)), startMs + 300_000);
  const late = { ...pod('p', tolerations), status: { startTime: '2026-01-01T00:01:00Z' } };
  assert.equal(at([unreachable], late), startMs + 360_000);
});
