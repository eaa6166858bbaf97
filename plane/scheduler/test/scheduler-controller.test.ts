import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@castellan/client';
import { formatKey, type KubernetesObject, type Pod, pods, StatusError } from '@castellan/machinery';
import type { EventNote, Reader, ReconcileContext } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { schedulerController } from '../src/index.js';
import { node, pod } from './objects.js';

test('S6: pods that the cache does not show as bound yet still take their room', async () => {
  const bench = new Bench([node('a', { cpu: '2' }), node('b', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }), pod('two', { cpu: '2' }), pod('three', { cpu: '2' }));
  for (const name of ['one', 'two', 'three']) await bench.reconcile(name);
  assert.deepEqual(bench.writes, ['bind one a', 'bind two b', 'patch three/status']);

  // The cache catches up with the bindings; then one of the pods is gone and its room free.
  bench.put(pod('one', { cpu: '2', nodeName: 'a' }), pod('two', { cpu: '2', nodeName: 'b' }));
  bench.remove('two');
  await bench.reconcile('three');
  assert.equal(bench.writes.at(-1), 'bind three b');
});

test('S6: the room of a pod that vanished before the cache showed its binding is free again', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }));
  await bench.reconcile('one');
  bench.remove('one');
  bench.put(pod('two', { cpu: '2' }));
  await bench.reconcile('two');
  assert.deepEqual(bench.writes, ['bind one a', 'bind two a']);
});

test('S6: a second reconcile of a pod that was just bound writes nothing', async () => {
  const bench = new Bench([node('a')]);
  bench.put(pod('one'));
  await bench.reconcile('one');
  await bench.reconcile('one');
  assert.deepEqual(bench.writes, ['bind one a']);
});

test('S7: bound, deleted, gated, finished and foreign pods are left alone', async () => {
  const bench = new Bench([node('a')]);
  bench.put(
    pod('bound', { nodeName: 'a' }),
    pod('deleted', { metadata: { namespace: 'default', name: 'deleted', deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    pod('gated', { spec: { schedulingGates: [{ name: 'later' }] } }),
    pod('finished', { phase: 'Succeeded' }),
    pod('foreign', { spec: { schedulerName: 'mine' } }),
  );
  for (const name of ['bound', 'deleted', 'gated', 'finished', 'foreign', 'absent']) await bench.reconcile(name);
  assert.deepEqual(bench.writes, []);
});

test('S7: a pod that was bound by somebody else meanwhile takes no room of ours', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }));
  bench.failure = StatusError.of('Conflict', 'pod one is already assigned to node "z"');
  await bench.reconcile('one');
  bench.failure = undefined;
  bench.put(pod('two', { cpu: '2' }));
  await bench.reconcile('two');
  assert.deepEqual(bench.writes, ['bind two a']);
});

test('S8: a pod that cannot be placed says why, once', async () => {
  const bench = new Bench([node('a', { cpu: '1' })]);
  bench.put(pod('big', { cpu: '2' }));
  const result = await bench.reconcile('big');
  const message = '0/1 nodes are available: 1 Insufficient cpu.';
  assert.deepEqual(result, { requeueAfterMs: 30_000 });
  assert.deepEqual(bench.notes, [{ type: 'Warning', reason: 'FailedScheduling', message }]);
  assert.deepEqual(bench.patches, [
    {
      metadata: { resourceVersion: '1' },
      status: {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message,
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
    },
  ]);
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
  bench.put({ ...pod('big', { cpu: '2' }), status: { conditions } });
  await bench.reconcile('big');
  assert.deepEqual(bench.writes, ['patch big/status']);
  assert.equal(bench.notes.length, 1);
});

test('S9: nodes that change and pods that go wake the pods that wait, and only those', async () => {
  const bench = new Bench([node('a', { cpu: '1' })]);
  bench.put(pod('big', { cpu: '2' }), pod('small'));
  await bench.reconcile('big');
  await bench.reconcile('small');
  const going = pod('x', { nodeName: 'a', phase: 'Failed' });
  assert.deepEqual(bench.wokenBy('Node', node('b')), ['default/big']);
  assert.deepEqual(bench.wokenBy('Pod', going), ['default/big']);
  assert.deepEqual(bench.wokenBy('Pod', pod('x', { nodeName: 'a', phase: 'Running' })), []);
});

test('S9: a pod that comes wakes the pods that want to be near it', async () => {
  const bench = new Bench([node('a', { labels: { zone: 'z' } })]);
  const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'zone' };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  bench.put(pod('near', { spec: { affinity } }));
  await bench.reconcile('near');
  assert.deepEqual(bench.writes, ['patch near/status']);
  assert.deepEqual(bench.wokenBy('Pod', pod('x', { nodeName: 'a', phase: 'Running' })), ['default/near']);
});

/** A scheduler with a cache that the test fills by hand, and a client that notes what is written. */
class Bench {
  readonly writes: string[] = [];
  readonly patches: unknown[] = [];
  readonly notes: EventNote[] = [];
  failure: Error | undefined;
  readonly #nodes: readonly KubernetesObject[];
  readonly #pods = new Map<string, Pod>();
  readonly #controller = schedulerController();

  constructor(nodes: readonly KubernetesObject[]) {
    this.#nodes = nodes;
  }

  put(...changed: readonly Pod[]): void {
    for (const each of changed) this.#pods.set(each.metadata.name ?? '', each);
  }

  remove(name: string): void {
    this.#pods.delete(name);
  }

  reconcile(name: string) {
    return this.#controller.reconcile({ namespace: 'default', name }, this.#context());
  }

  wokenBy(kind: string, object: KubernetesObject): readonly string[] {
    const sources = this.#controller.watches?.filter(({ type }) => type.kind === kind) ?? [];
    return sources.flatMap(({ map }) => map(object, this.#controller.for)).map(formatKey);
  }

  #context(): ReconcileContext {
    const cache = {
      get: (type: typeof pods, { name }: { name: string }) =>
        type.kind === pods.kind ? this.#pods.get(name) : undefined,
      list: (type: typeof pods) => (type.kind === pods.kind ? [...this.#pods.values()] : this.#nodes),
    } as unknown as Reader;
    const client = {
      create: async (_: unknown, object: KubernetesObject & { target: { name: string } }) => {
        if (this.failure !== undefined) throw this.failure;
        this.writes.push(`bind ${object.metadata.name} ${object.target.name}`);
        return object;
      },
      patch: async (
        _: unknown,
        key: { name: string },
        { body }: { body: unknown },
        options: { subresource: string },
      ) => {
        this.writes.push(`patch ${key.name}/${options.subresource}`);
        this.patches.push(body);
        return {};
      },
    } as unknown as Client;
    const quiet = () => undefined;
    return {
      cache,
      client,
      world: simulatedWorld(1),
      signal: new AbortController().signal,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      events: { record: (_, note) => this.notes.push(note) },
    };
  }
}
