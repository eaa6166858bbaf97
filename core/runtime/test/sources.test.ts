import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, type KubernetesObject, pods, secrets } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import {
  and,
  annotationsChanged,
  type Change,
  type Channel,
  type Controller,
  channelSource,
  createLog,
  createManager,
  generationChanged,
  labelsChanged,
  type Manager,
  not,
  or,
  ownerSource,
  resourceVersionChanged,
  watchSource,
} from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

function keyNamed(name: string) {
  return { namespace: 'default', name };
}

/** A controller of config maps that notes which keys it is given, and for `workMs` does nothing else. */
class Bench {
  readonly world: SimulatedWorld = simulatedWorld(5);
  readonly client = new FakeCluster();
  readonly runs: string[] = [];
  readonly manager: Manager;
  readonly #stop = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(options: Partial<Controller<KubernetesObject>>, workMs = 0) {
    const { world, client, runs } = this;
    const log = createLog({ write: () => undefined, world });
    const controller: Controller = {
      name: 'test',
      for: configMaps,
      async reconcile({ name }) {
        runs.push(name);
        if (workMs > 0) await world.clock.sleep(workMs);
        return undefined;
      },
      ...options,
    };
    this.manager = createManager({ wholeCache: true, client, world, log, controllers: [controller] });
  }

  async create(...names: string[]): Promise<void> {
    for (const name of names) await this.client.create(configMaps, { metadata: keyNamed(name) });
  }

  async patch(name: string, body: unknown): Promise<void> {
    await this.client.patch(configMaps, keyNamed(name), { type: 'merge', body });
    await this.world.advance(0);
  }

  async start(): Promise<void> {
    this.#ended = this.manager.run(this.#stop.signal);
    this.#ended.catch(() => undefined);
    await this.world.advance(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.run(this.#ended, 60_000);
    assert.equal(this.world.pendingTimers, 0);
  }

  takeRuns(): string[] {
    return this.runs.splice(0);
  }
}

test('S2: a predicate decides which changes of the object itself are a reason to reconcile', async () => {
  const bench = new Bench({ when: or(generationChanged, labelsChanged) });
  await bench.create('a');
  await bench.start();
  assert.deepEqual(bench.takeRuns(), ['a']);
  await bench.patch('a', { metadata: { annotations: { x: '1' } } });
  assert.deepEqual(bench.takeRuns(), []);
  await bench.patch('a', { metadata: { labels: { x: '1' } } });
  await bench.patch('a', { metadata: { generation: 2 } });
  assert.deepEqual(bench.takeRuns(), ['a', 'a']);
  await bench.stop();
});

test('S1, S2: an owner source is as a type in owns, with a predicate', async () => {
  const bench = new Bench({ watches: [ownerSource(pods, { when: not(annotationsChanged) })] });
  await bench.create('a');
  await bench.start();
  bench.takeRuns();
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'uid-a', controller: true }];
  await bench.client.create(pods, { metadata: { ...keyNamed('p'), ownerReferences } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), [], 'what was added has no annotations to compare with: it counts as changed');
  const change = (metadata: object) => bench.client.patch(pods, keyNamed('p'), { type: 'merge', body: { metadata } });
  await change({ labels: { x: '1' } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  await change({ annotations: { x: '1' } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), []);
  await bench.stop();
});

test('S2: predicates compare what their names say, and may be combined', () => {
  const before = { metadata: { name: 'a', resourceVersion: '1', generation: 1, labels: { l: '1' } } };
  const changed = (metadata: object): Change<KubernetesObject> => ({
    kind: 'updated',
    previous: before,
    object: { metadata: { ...before.metadata, ...metadata } },
  });
  const label = changed({ resourceVersion: '2', labels: { l: '2' } });
  const resync = changed({});
  assert.deepEqual([label, resync].map(labelsChanged), [true, false]);
  assert.deepEqual([label, changed({ generation: 2 })].map(generationChanged), [false, true]);
  assert.deepEqual([label, changed({ annotations: { a: '1' } })].map(annotationsChanged), [false, true]);
  assert.deepEqual([label, resync].map(resourceVersionChanged), [true, false]);
  assert.deepEqual([label, resync].map(and(labelsChanged, not(generationChanged))), [true, false]);
  assert.deepEqual([label, resync].map(or(generationChanged, annotationsChanged)), [false, false]);
  for (const kind of ['added', 'deleted'] as const) assert.ok(generationChanged({ kind, object: before }));
});

test('S3: what changes now runs before what was there at the start', async () => {
  const bench = new Bench({}, 100);
  await bench.create('a', 'b', 'c', 'd');
  await bench.start();
  await bench.patch('d', { data: { x: '1' } });
  await bench.world.advance(1_000);
  assert.deepEqual(bench.takeRuns(), ['a', 'd', 'b', 'c']);
  await bench.stop();
});

test('S3: keys of a source of higher priority run first', async () => {
  const first = watchSource({ type: secrets, priority: 10, map: ({ metadata }) => [keyNamed(metadata.name ?? '')] });
  const bench = new Bench({ watches: [first] }, 100);
  await bench.create('a', 'b', 'c');
  await bench.start();
  await bench.patch('b', { data: { x: '1' } });
  await bench.client.create(secrets, { metadata: keyNamed('c') });
  await bench.world.advance(1_000);
  assert.deepEqual(bench.takeRuns(), ['a', 'c', 'b']);
  await bench.stop();
});

test('S7: keys that the controller calls urgent run first, by what the cache shows when something asks for them', async () => {
  const urgency = ({ metadata }: KubernetesObject) => Number(metadata.labels?.urgency ?? 0);
  const bench = new Bench(
    {
      priority: (key, cache) => {
        const object = cache.get(configMaps, key);
        return object === undefined ? 0 : urgency(object);
      },
    },
    100,
  );
  await bench.create('a', 'b', 'c', 'd');
  await bench.start();
  await bench.patch('c', { metadata: { labels: { urgency: '5' } } });
  await bench.patch('d', { metadata: { labels: { urgency: '7' } } });
  await bench.world.advance(1_000);
  assert.deepEqual(bench.takeRuns(), ['a', 'd', 'c', 'b']);
  await bench.stop();
});

test('S1: a source is given the change itself, and both sides of an update', async () => {
  const told: string[] = [];
  const source = watchSource({
    type: secrets,
    map: (object, _, change) => {
      told.push(`${change.kind} ${object === change.object ? 'now' : 'before'}`);
      return [];
    },
  });
  const bench = new Bench({ watches: [source] });
  await bench.start();
  await bench.client.create(secrets, { metadata: keyNamed('a') });
  await bench.world.advance(0);
  await bench.client.patch(secrets, keyNamed('a'), { type: 'merge', body: { data: { x: '1' } } });
  await bench.world.advance(0);
  assert.deepEqual(told, ['added now', 'updated before', 'updated now']);
  await bench.stop();
});

test('S4, 22: a burst of changes is one run, at the end of the debounce that the first of them began', async () => {
  const bench = new Bench({ debounceMs: 1_000 });
  await bench.create('a');
  await bench.start();
  for (let at = 0; at < 8; at += 1) {
    await bench.patch('a', { data: { at: String(at) } });
    await bench.world.advance(100);
  }
  assert.deepEqual(bench.takeRuns(), []);
  await bench.world.advance(200);
  assert.deepEqual(bench.takeRuns(), ['a']);
  await bench.world.advance(10_000);
  assert.deepEqual(bench.takeRuns(), []);
  await bench.stop();
});

test('S5: an observer feeds keys and objects; what it sends before the start is merged, and nothing is lost', async () => {
  const probes = channelSource({ name: 'the probe' });
  const bench = new Bench({ channels: [probes] });
  assert.ok(probes.offer(keyNamed('a')));
  assert.ok(probes.offer({ metadata: keyNamed('a') }));
  assert.equal(probes.length, 1);
  await bench.create('a');
  await bench.start();
  assert.deepEqual(bench.takeRuns(), ['a']);
  probes.offer(keyNamed('b'));
  await bench.world.advance(0);
  assert.deepEqual([bench.takeRuns(), probes.length], [['b'], 0]);
  assert.equal(bench.manager.status().controllers[0]?.keys.length, 1, 'nothing is remembered of b, which is not there');
  await bench.stop();
});

test('S5: a channel that is full makes its senders wait for a worker, in order, and until they give up', async () => {
  const probes: Channel = channelSource({ name: 'the probe', capacity: 2 });
  const bench = new Bench({ channels: [probes] }, 100);
  await bench.start();
  const { signal } = new AbortController();
  const sent: string[] = [];
  const send = (name: string) => probes.send(keyNamed(name), signal).then(() => sent.push(name));
  const sending = Promise.all(['a', 'b', 'c', 'd', 'e'].map(send));
  await bench.world.advance(0);
  assert.deepEqual(sent, ['a', 'b', 'c'], 'a is with the worker, and there is room for two');
  assert.equal(probes.offer(keyNamed('f')), false);
  assert.equal(probes.offer(keyNamed('b')), true, 'it waits already');
  const giveUp = new AbortController();
  const refused = assert.rejects(probes.send(keyNamed('g'), giveUp.signal), /too late/);
  giveUp.abort(new Error('too late'));
  await refused;
  await bench.world.advance(1_000);
  await sending;
  assert.deepEqual(bench.takeRuns(), ['a', 'b', 'c', 'd', 'e']);
  await bench.stop();
});

test('S5: a channel feeds one controller', async () => {
  const probes = channelSource({ name: 'the probe' });
  const bench = new Bench({ channels: [probes] });
  assert.throws(() => new Bench({ channels: [probes] }), /the channel the probe feeds a controller already/);
  await bench.start();
  await bench.stop();
});

test('S6, 70: sources may be added while the controller runs', async () => {
  const bench = new Bench({});
  await bench.create('a', 'b');
  await bench.client.create(secrets, { metadata: keyNamed('b') });
  await bench.start();
  bench.takeRuns();
  const toOne = watchSource({ type: secrets, map: ({ metadata }) => [keyNamed(metadata.name ?? '')] });
  bench.manager.addSource('test', toOne);
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['b']);
  await bench.client.create(secrets, { metadata: keyNamed('a') });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  const probes = channelSource({ name: 'the probe' });
  bench.manager.addSource('test', probes);
  probes.offer(keyNamed('b'));
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['b']);
  assert.throws(
    () => bench.manager.addSource('tset', probes),
    /no controller of this manager is called tset \(there are: test\)/,
  );
  await bench.stop();
});
