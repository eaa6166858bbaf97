import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@castellan/client';
import {
  formatKey,
  type KubernetesObject,
  keyOf,
  type Node,
  nodes,
  type Pod,
  pods,
  type ResourceType,
  StatusError,
} from '@castellan/machinery';
import type { Change, EventNote, ReconcileContext } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { schedulerController } from '../src/index.js';
import { node, pod } from './objects.js';
import { HandCache } from './scene.js';

test('S6: pods that the cache does not show as bound yet still take their room', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }), pod('two', { cpu: '2' }));
  for (const name of ['one', 'two']) await bench.reconcile(name);
  assert.deepEqual(bench.writes, ['bind one a', 'patch two/status']);

  // The cache catches up with the binding; then the pod is gone and its room free.
  bench.put(pod('one', { cpu: '2', nodeName: 'a' }));
  bench.remove('one');
  await bench.reconcile('two');
  assert.equal(bench.writes.at(-1), 'bind two a');
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

test('S6: a binding whose fate is unknown keeps its room, and is tried again for the same node', async () => {
  const bench = new Bench([node('a', { cpu: '2' }), node('b', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }));
  bench.failure = new Error('the connection was lost');
  await assert.rejects(bench.reconcile('one'), /the connection was lost/);
  bench.failure = undefined;
  bench.put(pod('two', { cpu: '2' }));
  await bench.reconcile('two');
  await bench.reconcile('one');
  const [first, second, third] = bench.writes;
  assert.equal(third, first);
  assert.notEqual(second?.at(-1), first?.at(-1));
});

test('S6: a slow binding does not hold the next decision', async () => {
  const bench = new Bench([node('a'), node('b')]);
  let letGo = () => {};
  bench.hold = new Promise((resolve) => {
    letGo = resolve;
  });
  bench.put(pod('one'), pod('two'));
  const slow = Promise.all([bench.reconcile('one'), bench.reconcile('two')]);
  assert.equal(bench.writes.length, 2);
  letGo();
  await slow;
  assert.deepEqual(
    bench.notes.map(({ about, reason }) => `${about} ${reason}`),
    ['one Scheduled', 'two Scheduled'],
  );
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

test('S7: a pod whose last gate is taken away is scheduled', () => {
  const bench = new Bench([node('a')]);
  assert.deepEqual(bench.put(pod('gated', { spec: { schedulingGates: [{ name: 'later' }] } })), []);
  assert.deepEqual(bench.put(pod('gated')), ['default/gated']);
});

test('S7: a pod that somebody else bound keeps its room here until it is known where it is', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }));
  bench.failure = StatusError.of('Conflict', 'pod one is already assigned to node "z"');
  await bench.reconcile('one');
  bench.failure = undefined;
  bench.put(pod('two', { cpu: '2' }));
  await bench.reconcile('two');
  assert.equal(bench.writes.at(-1), 'patch two/status');
  bench.put(pod('one', { cpu: '2', nodeName: 'z' }));
  await bench.reconcile('two');
  assert.equal(bench.writes.at(-1), 'bind two a');
});

test('S8: a pod that cannot be placed says why, in a condition that is written once', async () => {
  const bench = new Bench([node('a', { cpu: '1' })]);
  bench.put(pod('big', { cpu: '2' }));
  const result = await bench.reconcile('big');
  const message =
    '0/1 nodes are available: 1 Insufficient cpu. ' +
    'preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.';
  assert.deepEqual(result, { requeueAfterMs: 300_000 });
  assert.deepEqual(bench.notes, [
    { about: 'big', type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message },
  ]);
  const condition = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message };
  assert.deepEqual(bench.patches, [
    {
      metadata: { uid: 'uid-big' },
      status: {
        conditions: [{ lastProbeTime: null, lastTransitionTime: '2026-01-01T00:00:00Z', ...condition }],
      },
    },
  ]);
  bench.put({ ...pod('big', { cpu: '2' }), status: { conditions: [condition] } });
  await bench.reconcile('big');
  assert.deepEqual(bench.writes, ['patch big/status']);
});

test('S8: a binding that the server refuses is told, and the pod is placed anew', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  bench.put(pod('one', { cpu: '2' }));
  bench.failure = StatusError.of('Forbidden', 'pods "one" is forbidden: not today');
  await assert.rejects(bench.reconcile('one'), /not today/);
  assert.deepEqual(
    bench.notes.map(({ reason, message }) => `${reason}: ${message}`),
    ['FailedScheduling: binding rejected: pods "one" is forbidden: not today'],
  );
  const [patch] = bench.patches as { status: { conditions: { reason: string }[] } }[];
  assert.equal(patch?.status.conditions[0]?.reason, 'SchedulerError');
  bench.failure = undefined;
  await bench.reconcile('one');
  assert.deepEqual(bench.writes, ['bind one a', 'patch one/status', 'bind one a']);
});

test('S9: changes wake the pods that they may help, and no others', async () => {
  const bench = new Bench([node('a', { cpu: '1', labels: { zone: 'z' } })]);
  const term = { labelSelector: { matchLabels: { app: 'db' } }, topologyKey: 'zone' };
  const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } };
  bench.put(pod('big', { cpu: '2' }), pod('near', { spec: { affinity } }), pod('other', { nodeName: 'a', cpu: '1' }));
  await bench.reconcile('big');
  await bench.reconcile('near');
  const small = { kind: 'added', object: node('b', { cpu: '1' }) } as const;
  assert.deepEqual(bench.changed(nodes, small), ['default/near']);
  assert.deepEqual(bench.changed(nodes, { kind: 'added', object: node('c', { cpu: '3' }) }), [
    'default/big',
    'default/near',
  ]);
  const heartbeat = { kind: 'updated', previous: small.object, object: { ...small.object } } as const;
  assert.deepEqual(bench.changed(nodes, heartbeat), []);
  assert.deepEqual(bench.put(pod('x', { nodeName: 'a', phase: 'Running' })), ['default/near']);
  assert.deepEqual(bench.remove('other'), ['default/big', 'default/near']);
});

test('S9: the first change that may help is followed at once, then a pod rests 1 s, 2 s, … up to 10 s between tries', async () => {
  const bench = new Bench([node('a', { cpu: '1' })]);
  bench.put(pod('big', { cpu: '2' }));
  await bench.reconcile('big');
  const rests: (number | undefined)[] = [];
  for (let round = 0; round < 6; round += 1) {
    await bench.reconcile('big');
    const restMs = (await bench.reconcile('big'))?.requeueAfterMs;
    rests.push(restMs);
    await bench.advance(restMs ?? 0);
  }
  assert.deepEqual(rests, [1_000, 2_000, 4_000, 8_000, 10_000, 10_000]);
});

test('S10: pods of higher priority come first', () => {
  const controller = schedulerController();
  const cache = new HandCache();
  cache.put(pods, pod('urgent', { spec: { priority: 1000 } }), pod('plain'));
  const urgency = (name: string) => controller.priority?.({ namespace: 'default', name }, cache.reader);
  assert.equal(urgency('urgent'), 1000);
  assert.equal(urgency('plain'), 0);
  assert.equal(urgency('absent'), 0);
});

test('S11: a pod of higher priority is nominated to a node, then has another go from there and takes its room', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  bench.put(pod('low', { cpu: '2', nodeName: 'a' }), pod('high', { cpu: '2', spec: { priority: 10 } }));
  await bench.reconcile('high');
  assert.deepEqual(bench.writes, ['patch high/status', 'patch low/status', 'delete low']);
  assert.deepEqual(
    bench.notes.map(({ about, reason, message }) => [about, reason, message]),
    [
      ['high', 'FailedScheduling', '0/1 nodes are available: 1 Insufficient cpu.'],
      ['low', 'Preempted', 'Preempted by pod uid-high on node a'],
    ],
  );
  const [nomination, disruption] = bench.patches as { status: Record<string, unknown> }[];
  assert.equal(nomination?.status.nominatedNodeName, 'a');
  assert.deepEqual(disruption?.status.conditions, [
    {
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'PreemptionByScheduler',
      message: 'default-scheduler: preempting to accommodate a higher priority pod',
      lastProbeTime: null,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ]);
  // Meanwhile a lesser pod does not get the room.
  bench.remove('low');
  bench.put(pod('late', { cpu: '2', spec: { priority: 5 } }));
  await bench.reconcile('late');
  await bench.reconcile('high');
  assert.deepEqual(bench.writes.slice(3), ['patch late/status', 'bind high a']);
});

test('S11: a nomination is read from the pod by a scheduler that did not make it', async () => {
  const bench = new Bench([node('a', { cpu: '2' })]);
  const high = pod('high', { cpu: '2', spec: { priority: 10 } });
  bench.put({ ...high, status: { ...high.status, nominatedNodeName: 'a' } }, pod('late', { cpu: '2' }));
  await bench.reconcile('late');
  await bench.reconcile('high');
  assert.deepEqual(bench.writes, ['patch late/status', 'bind high a']);
});

/** A scheduler with a cache that the test fills by hand, and a client that notes what is written. */
class Bench {
  readonly writes: string[] = [];
  readonly patches: unknown[] = [];
  readonly notes: (EventNote & { readonly about: string })[] = [];
  readonly world = simulatedWorld(1);
  failure: Error | undefined;
  /** Bindings wait for this. */
  hold: Promise<void> | undefined;
  readonly #cache = new HandCache();
  readonly #known = new Map<string, Pod>();
  readonly #controller = schedulerController();

  constructor(all: readonly Node[] = []) {
    for (const each of all) this.changed(nodes, { kind: 'added', object: each });
  }

  /** What the watch of pods tells; the keys that it wakes. */
  put(...changed: readonly Pod[]): readonly string[] {
    return changed.flatMap((object) => {
      const key = formatKey(keyOf(object));
      const previous = this.#known.get(key);
      this.#known.set(key, object);
      return this.changed(
        pods,
        previous === undefined ? { kind: 'added', object } : { kind: 'updated', object, previous },
      );
    });
  }

  remove(name: string): readonly string[] {
    const object = this.#known.get(`default/${name}`);
    assert.ok(object !== undefined);
    this.#known.delete(`default/${name}`);
    return this.changed(pods, { kind: 'deleted', object });
  }

  changed<T extends KubernetesObject>(type: ResourceType<T>, change: Change<T>): readonly string[] {
    if (change.kind === 'deleted') this.#cache.remove(type, keyOf(change.object));
    else this.#cache.put(type, change.object);
    const own = type.kind === 'Pod' && this.#controller.when?.(change as unknown as Change<Pod>) === true;
    const sources = this.#controller.watches?.filter((source) => source.type.kind === type.kind) ?? [];
    const woken = sources.flatMap(({ map }) => map(change.object, this.#controller.for, change));
    return [...(own ? [keyOf(change.object)] : []), ...woken].map(formatKey);
  }

  reconcile(name: string) {
    return this.#controller.reconcile({ namespace: 'default', name }, this.#context());
  }

  async advance(ms: number): Promise<void> {
    await this.world.advance(ms);
  }

  #context(): ReconcileContext {
    const client = {
      create: async (_: unknown, object: KubernetesObject & { target: { name: string } }) => {
        this.writes.push(`bind ${object.metadata.name} ${object.target.name}`);
        await this.hold;
        if (this.failure !== undefined) throw this.failure;
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
      delete: async (_: unknown, key: { name: string }) => {
        this.writes.push(`delete ${key.name}`);
        return true;
      },
    } as unknown as Client;
    const quiet = () => undefined;
    return {
      cache: this.#cache.reader,
      client,
      world: this.world,
      signal: new AbortController().signal,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      events: { record: (about, note) => this.notes.push({ about: about.metadata.name ?? '', ...note }) },
    };
  }
}
