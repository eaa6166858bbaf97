import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps, type Pod, pods, StatusError, secrets } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { cached, createLog, index, metadataOf, pick } from '../src/index.js';
import { InformerSet, type InformerSetOptions } from '../src/informer/informer-set.js';
import { FakeCluster } from './fake-cluster.js';

const key = { namespace: 'default', name: 'a' };

const pod: Pod = {
  metadata: { ...key, labels: { app: 'web' }, annotations: { note: 'long' }, managedFields: [{ manager: 'x' }] },
  spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'web:1', env: [{ name: 'A', value: '1' }] }] },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
};

class Bench {
  readonly world = simulatedWorld(3);
  readonly client = new FakeCluster();
  readonly lines: string[] = [];
  readonly caches: InformerSet;
  readonly #stop = new AbortController();
  #ended: Promise<unknown> = Promise.resolve();

  constructor(options: Partial<InformerSetOptions> = {}) {
    const { client, world } = this;
    const log = createLog({ write: (line) => this.lines.push(line), world, format: 'human' });
    this.caches = new InformerSet({ client, world, log, ...options });
  }

  async start(): Promise<void> {
    this.#ended = Promise.all(this.caches.all().map((informer) => informer.run(this.#stop.signal)));
    await this.world.advance(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('stop'));
    await this.world.run(this.#ended, 1_000);
    assert.equal(this.world.pendingTimers, 0);
  }
}

test('C1, 41: what was not picked is cut off before it is stored and before a handler sees it', async () => {
  for (const usesWatchList of [false, true]) {
    const bench = new Bench({ usesWatchList });
    const { uid } = (await bench.client.create(pods, pod)).metadata;
    const type = pick(pods, ['status.conditions', 'spec.containers[].image', 'spec.nodeName']);
    const seen: unknown[] = [];
    bench.caches.watch(type).addHandler(({ object }) => seen.push(object));
    await bench.start();
    const expected = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        ...key,
        uid,
        resourceVersion: '101',
        creationTimestamp: '2026-01-01T00:00:00Z',
        labels: { app: 'web' },
      },
      spec: { containers: [{ image: 'web:1' }], nodeName: 'node-1' },
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
    };
    assert.deepEqual(bench.caches.get(type, key), expected);
    await bench.client.patch(pods, key, { type: 'merge', body: { status: { phase: 'Failed', conditions: [] } } });
    await bench.world.advance(0);
    const changed = {
      ...expected,
      metadata: { ...expected.metadata, resourceVersion: '102' },
      status: { conditions: [] },
    };
    assert.deepEqual(seen, [expected, changed]);
    await bench.stop();
  }
});

test('C1: reading what was not picked does not compile, and a path that is none is refused', async () => {
  const type = pick(pods, ['status.conditions', 'spec.containers[].image']);
  const read = (object: NonNullable<typeof type.objectType>): unknown[] => [
    object.metadata.uid,
    object.status?.conditions?.[0]?.status,
    object.spec?.containers[0]?.image,
    // @ts-expect-error the phase was not picked
    object.status?.phase,
    // @ts-expect-error of the containers, only the image was
    object.spec?.containers[0]?.name,
    // @ts-expect-error annotations are no part of the identity
    object.metadata.annotations,
  ];
  assert.equal(read(pod as NonNullable<typeof type.objectType>).length, 6);
  // @ts-expect-error a pod's status has conditions
  pick(pods, ['status.condition']);
  // @ts-expect-error containers are a list: containers[].image
  pick(pods, ['spec.containers.image']);
  const path: string = 'spec..x';
  assert.throws(() => pick(pods, [path as 'spec']), /pick\(pods\): "spec\.\.x" is not a path of fields/);
});

test('C2: metadataOf asks for metadata only, and holds it without managedFields under the kind of the objects', async () => {
  const bench = new Bench({ usesWatchList: false });
  const { uid } = (await bench.client.create(pods, pod)).metadata;
  const type = metadataOf(pods);
  bench.caches.watch(type);
  await bench.start();
  const requests = [...bench.client.requests('LIST pods'), ...bench.client.requests('WATCH pods')];
  assert.deepEqual(
    requests.map((request) => request.includes('"metadataOnly":true')),
    [true, true],
  );
  assert.deepEqual(bench.caches.get(type, key), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...key,
      labels: { app: 'web' },
      annotations: { note: 'long' },
      uid,
      resourceVersion: '101',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
  });
  await bench.stop();
});

test('C3: parts of one type have caches of their own, and equal parts share one', async () => {
  const bench = new Bench();
  const conditions = bench.caches.watch(pick(pods, ['status.conditions', 'spec.nodeName']));
  assert.equal(bench.caches.watch(pick(pods, ['spec.nodeName', 'status.conditions'])), conditions);
  assert.notEqual(bench.caches.watch(metadataOf(pods)), conditions);
  assert.notEqual(bench.caches.watch(cached(pods, { labelSelector: 'app=web' })), conditions);
  assert.equal(bench.caches.watch(cached(pods, { wholeCache: true })), bench.caches.watch(pods));
  assert.deepEqual(
    bench.caches.status().map(({ name, state }) => [name, state]),
    [
      ['pods/v1 (spec.nodeName, status.conditions)', 'not started'],
      ['pods/v1 (metadata)', 'not started'],
      ['pods/v1 (app=web)', 'not started'],
      ['pods/v1', 'not started'],
    ],
  );
});

test('C4: reading the whole of a type of which a part is cached is refused, and what to do is said', () => {
  const bench = new Bench();
  bench.caches.watch(pick(pods, ['status.conditions']));
  assert.throws(
    () => bench.caches.get(pods, key),
    /pods\/v1 is not cached whole, but as pods\/v1 \(status\.conditions\): read it with the type that was made for that .*, name the whole type in for, owns or watches, or read it with the client/,
  );
  assert.throws(() => bench.caches.get(secrets, key), /no controller of this manager watches secrets\/v1/);
});

test('C5: all Secrets, ConfigMaps or Pods of a cluster are not held in full unless that is said aloud', () => {
  for (const type of [pods, secrets, configMaps]) {
    assert.throws(
      () => new Bench().caches.watch(type),
      /would be cached whole: .* pick\(.*metadataOf\(.*labelSelector.*wholeCache: true/,
    );
    new Bench({ namespace: 'default' }).caches.watch(type);
    new Bench({ wholeCache: true }).caches.watch(type);
    for (const part of [{ wholeCache: true }, { namespaces: ['a'] }, { fieldSelector: 'metadata.name=a' }]) {
      new Bench().caches.watch(cached(type, part));
    }
  }
});

test('C6: a cache of some namespaces watches each, and does not answer for others', async () => {
  const bench = new Bench();
  const type = cached(configMaps, { namespaces: ['one', 'two'] });
  const informer = bench.caches.watch(type);
  for (const namespace of ['one', 'two', 'three']) {
    await bench.client.create(configMaps, { metadata: { namespace, name: 'a' } });
  }
  await bench.start();
  await bench.client.create(configMaps, { metadata: { namespace: 'two', name: 'b' } });
  const other = await bench.client.create(configMaps, { metadata: { namespace: 'three', name: 'b' } });
  bench.caches.noteWrite(configMaps, other);
  await bench.world.advance(0);
  assert.deepEqual(
    bench.caches.list(type).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ['one/a', 'two/a', 'two/b'],
  );
  assert.equal(informer.state, 'watching');
  assert.throws(() => bench.caches.list(type, { namespace: 'three' }), /is cached in one, two only/);
  assert.throws(() => cached({ ...pods, isNamespaced: false }, { namespaces: ['one'] }), /are in no namespace/);
  await bench.stop();
});

test('C7, 47: an index follows what is held, holds no key without objects, and is read by name only where it is kept', async () => {
  const bench = new Bench({ usesWatchList: false });
  const byColor = index(cached(configMaps, { wholeCache: true }), 'color', ({ data = {} }) => Object.values(data));
  bench.caches.addIndex(byColor);
  await bench.client.create(configMaps, { metadata: key, data: { x: 'red', y: 'blue' } });
  await bench.start();
  const found = (color: string) => bench.caches.byIndex(byColor, color).map(({ metadata }) => metadata.name);
  assert.deepEqual([found('red'), found('blue')], [['a'], ['a']]);
  await bench.client.patch(configMaps, key, { type: 'merge', body: { data: { x: 'green', y: null } } });
  await bench.world.advance(0);
  assert.deepEqual([found('red'), found('blue'), found('green')], [[], [], ['a']]);
  await bench.client.delete(configMaps, key);
  await bench.world.advance(0);
  assert.deepEqual(found('green'), []);
  const unknown = index(byColor.type, 'size', () => []);
  assert.throws(() => bench.caches.byIndex(unknown, 'x'), /the index size of configmaps\/v1 is not kept: name it in/);
  const second = index(byColor.type, 'color', () => []);
  assert.throws(() => bench.caches.addIndex(second), /two indexes of configmaps are named color/);
  await bench.stop();
});

test('C7: an object whose keys cannot be worked out is left out of the index, and that is said', async () => {
  const bench = new Bench({ wholeCache: true });
  const byColor = index(configMaps, 'color', ({ data }) => [data?.color?.toLowerCase() ?? '']);
  bench.caches.addIndex(byColor);
  await bench.client.create(configMaps, { metadata: key, data: { color: 1 as unknown as string } });
  await bench.start();
  assert.deepEqual(bench.caches.byIndex(byColor, '1'), []);
  assert.notEqual(bench.caches.get(configMaps, key), undefined);
  assert.match(bench.lines.join(''), /default\/a is left out of the index color of configmaps/);
  await bench.stop();
});

test('C8, W1, 56: a write is read from every cache of its type, cut as that cache is, and by its indexes', async () => {
  const bench = new Bench({ wholeCache: true });
  const images = pick(pods, ['spec.containers[].image']);
  const byImage = index(images, 'image', ({ spec }) => spec?.containers.map(({ image = '' }) => image) ?? []);
  bench.caches.addIndex(byImage);
  bench.caches.watch(pods);
  bench.caches.watch(metadataOf(pods));
  await bench.start();
  bench.client.isWatchHeld = true;
  const written = await bench.client.create(pods, pod);
  bench.caches.noteWrite(pods, written);
  assert.deepEqual(bench.caches.get(images, key)?.spec, { containers: [{ image: 'web:1' }] });
  assert.equal(bench.caches.byIndex(byImage, 'web:1').length, 1);
  assert.equal(bench.caches.get(pods, key)?.status?.phase, 'Running');
  assert.deepEqual(Object.keys(bench.caches.get(metadataOf(pods), key) ?? {}), ['apiVersion', 'kind', 'metadata']);
  await bench.client.delete(pods, key);
  bench.caches.noteDelete(pods, key, bench.caches.uidOf(pods, key) ?? '');
  assert.notEqual(bench.caches.get(images, key)?.metadata.deletionTimestamp, undefined);
  await bench.stop();
});

test('W6, 56: a write is read also where it is not in the selection of a cache, until the watch is past it', async () => {
  const bench = new Bench({ usesWatchList: false });
  const web = cached(configMaps, { labelSelector: 'app=web' });
  const told: string[] = [];
  bench.caches.watch(web).addHandler(({ kind, object }) => told.push(`${kind} ${object.metadata.name}`));
  const labelled = (name: string, app: string): ConfigMap => ({ metadata: { ...key, name, labels: { app } } });
  await bench.client.create(configMaps, labelled('a', 'web'));
  await bench.start();
  bench.client.isWatchHeld = true;
  const relabel = { type: 'merge', body: { metadata: { labels: { app: 'db' } } } } as const;
  bench.caches.noteWrite(configMaps, await bench.client.patch(configMaps, key, relabel));
  bench.caches.noteWrite(configMaps, await bench.client.create(configMaps, labelled('b', 'db')));
  assert.deepEqual(
    bench.caches.list(web).map(({ metadata }) => [metadata.name, metadata.labels?.app]),
    [
      ['a', 'db'],
      ['b', 'db'],
    ],
  );
  bench.client.release();
  await bench.world.advance(0);
  assert.equal(bench.caches.get(web, key), undefined);
  assert.equal(bench.caches.list(web).length, 1);
  bench.client.bookmark();
  await bench.world.advance(0);
  assert.deepEqual(bench.caches.list(web), []);
  assert.deepEqual(told, ['added a', 'updated a', 'added b', 'deleted a', 'deleted b']);
  await bench.stop();
});

test('K1: a kind that is missing is waited for and said once; what was known of it goes when it stays away', async () => {
  const bench = new Bench({ wholeCache: true });
  const informer = bench.caches.watch(configMaps);
  const told: string[] = [];
  informer.addHandler(({ kind }) => told.push(kind));
  const missing = (call: string): void => {
    if (/^(LIST|WATCH)/.test(call))
      throw StatusError.of('NotFound', 'the server could not find the requested resource');
  };
  bench.client.intercept = missing;
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual([informer.state, informer.isSynced], ['waiting for the kind', false]);
  assert.equal(bench.lines.length, 1);
  assert.match(bench.lines[0] ?? '', /configmaps is not served: waiting until it is/);
  const asked = bench.client.requests('WATCH').length;
  assert.ok(asked >= 6 && asked <= 14, `${asked} requests in a minute`);
  bench.client.intercept = () => undefined;
  await bench.client.create(configMaps, { metadata: key });
  await bench.world.advance(10_000);
  assert.deepEqual([informer.state, informer.isSynced, told], ['watching', true, ['added']]);
  bench.client.intercept = missing;
  bench.client.cutWatches();
  await bench.world.advance(5_000);
  assert.deepEqual([informer.state, told], ['waiting for the kind', ['added']]);
  await bench.world.advance(30_000);
  assert.deepEqual([informer.size, told], [0, ['added', 'deleted']]);
  bench.client.intercept = () => undefined;
  await bench.world.advance(10_000);
  assert.deepEqual([informer.state, told], ['watching', ['added', 'deleted', 'added']]);
  await bench.stop();
});
