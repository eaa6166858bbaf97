import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsV1, type Pod, pods, StatusError } from '@castellan/machinery';
import { settled } from '../src/index.js';
import { Bench, type Cache, caches, key } from './cache-bench.js';

const podKey = { namespace: 'default', name: 'p' };

function pod(label: string): Pod {
  return { metadata: { name: 'p', labels: { color: label } }, spec: { containers: [] } };
}

function warnings(bench: Bench): readonly string[] {
  return bench.logged.filter(({ level }) => level === 'warn').map(({ message }) => String(message));
}

const mutations: readonly (readonly [string, (object: Cache) => void, RegExp])[] = [
  [
    'sets a field',
    (object) => Object.assign(object.spec, { size: 2 }),
    /it tried to set spec\.size of Cache default\/a\. Change a copy instead: \{ \.\.\.object, spec: /,
  ],
  [
    'adds to a list',
    (object) => (object.status as { conditions: unknown[] }).conditions.push({}),
    /it tried to add status\.conditions\[1\] of Cache default\/a\./,
  ],
  [
    'deletes a label',
    (object) => delete (object.metadata.labels as Record<string, string>).gone,
    /it tried to delete metadata\.labels\.gone of Cache default\/a\./,
  ],
  [
    'adds a field',
    (object) => Object.assign(object.spec, { extra: 2 }),
    /it tried to add the property extra of a frozen object\./,
  ],
];

for (const [what, mutate, message] of mutations) {
  test(`B1: a reconcile that ${what} of a cached object is told which, and to copy it`, async () => {
    const bench = new Bench({
      async reconcile(object) {
        mutate(object);
        return settled();
      },
    });
    await bench.create({ size: 1 }, { labels: { gone: 'x' } });
    await bench.patch({ status: { conditions: [{ type: 'A', status: 'True' }] } });
    await bench.start();
    assert.match(String(bench.errors[0]), message);
    assert.ok(bench.errors[0] instanceof Error && bench.errors[0].cause instanceof TypeError);
    await bench.stop();
  });
}

test('B1: a TypeError of another kind is left as it is', async () => {
  const bench = new Bench({
    async reconcile() {
      throw new TypeError('x is not a function');
    },
  });
  await bench.create();
  await bench.start();
  assert.equal(String(bench.errors[0]), 'TypeError: x is not a function');
  await bench.stop();
});

test('B2: a field that a reconcile sends back and forth is named in one warning and one event, and the key is slowed down', async () => {
  let runs = 0;
  const bench = new Bench({
    owns: [pods],
    async reconcile(_object, { ensure }) {
      runs += 1;
      await ensure(pods, pod(runs % 2 === 0 ? 'red' : 'blue'));
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  await bench.world.advance(1_000);
  const message =
    /^Pod default\/p is written again and again: metadata\.labels\.color goes back and forth between "(red|blue)" and "(red|blue)"; controller cache is slowed down for default\/a/;
  assert.equal(warnings(bench).length, 1);
  assert.match(warnings(bench)[0] ?? '', message);
  const [event, ...more] = (await bench.client.list(eventsV1)).items;
  assert.deepEqual([event?.type, event?.reason, event?.regarding?.name, more], ['Warning', 'WritesInALoop', 'a', []]);
  assert.match(event?.note ?? '', message);
  const before = runs;
  await bench.world.advance(600_000);
  assert.ok(runs - before < 25, `${runs - before} more runs in ten minutes`);
  assert.equal(warnings(bench).length, 1);
  await bench.stop();
});

test('B2: a field that is another one each time is named', async () => {
  let runs = 0;
  const bench = new Bench({
    owns: [pods],
    async reconcile(_object, { ensure }) {
      runs += 1;
      await ensure(pods, pod(`run ${runs}`));
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  await bench.world.advance(1_000);
  assert.equal(warnings(bench).length, 1);
  assert.match(
    warnings(bench)[0] ?? '',
    /^Pod default\/p was written 20 times within a minute while nothing else changed: each time metadata\.labels\.color \(now "run 20"\);/,
  );
  await bench.stop();
});

test('B2: a field that another writer sets back each time is named, and taken back less and less often', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(_object, { ensure }) {
      await ensure(pods, pod('ours'));
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  const theirs = { type: 'merge', body: { metadata: { labels: { color: 'theirs' } } } } as const;
  for (let at = 0; at < 10; at += 1) {
    await bench.client.patch(pods, podKey, theirs);
    await bench.world.advance(100);
  }
  assert.equal(warnings(bench).length, 1);
  assert.match(
    warnings(bench)[0] ?? '',
    /metadata\.labels\.color was set to "ours" 5 times within a minute, and set back by another writer each time/,
  );
  await bench.stop();
});

test('B2: writes that follow what others change are no loop', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(_object, { ensure, owned, status }) {
      await ensure(pods, pod('blue'));
      status({ ready: owned(pods)[0]?.status?.phase === 'Running' ? 1 : 0 });
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  for (let at = 0; at < 60; at += 1) {
    const phase = at % 2 === 0 ? 'Running' : 'Pending';
    await bench.client.patch(pods, podKey, { type: 'merge', body: { status: { phase } } });
    await bench.world.advance(100);
  }
  assert.deepEqual(warnings(bench), []);
  assert.ok(bench.client.requests('PATCH').filter((call) => call.includes('"ready"')).length >= 60);
  await bench.stop();
});

test('B2: a key that has rested for a minute is as quick as before', async () => {
  let isLooping = true;
  const bench = new Bench({
    async reconcile(_object, { status, world }) {
      if (isLooping) status({ note: String(world.clock.monotonicNow() + world.random.next()) });
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  await bench.world.advance(1_000);
  isLooping = false;
  await bench.world.advance(200_000);
  const { reconciles = 0 } = bench.manager.status().controllers[0] ?? {};
  await bench.patch({ spec: { size: 2 } });
  assert.equal(bench.manager.status().controllers[0]?.reconciles, reconciles + 1);
  await bench.stop();
});

test('B3: what is not allowed is said with the rule that allows it', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(object, { ensure }) {
      await ensure(pods, pod(object.metadata.name ?? ''));
      return settled();
    },
  });
  await bench.create();
  const user = 'User "system:serviceaccount:ops:memcached"';
  bench.client.intercept = (call) => {
    if (/^(LIST|WATCH) pods/.test(call)) {
      const message = `pods is forbidden: ${user} cannot list resource "pods" in API group "" at the cluster scope`;
      throw StatusError.of('Forbidden', message);
    }
  };
  await bench.start();
  assert.match(
    warnings(bench)[0] ?? '',
    /watching pods: .*; add to its ClusterRole the rule apiGroups: \[""\], resources: \["pods"\], verbs: \["get", "list", "watch"\]/,
  );
  bench.client.intercept = (call) => {
    if (!call.startsWith('PATCH')) return;
    const message = `pods "p" is forbidden: ${user} cannot patch resource "pods" in API group "" in the namespace "default"`;
    throw StatusError.of('Forbidden', message);
  };
  await bench.world.advance(5_000);
  assert.match(
    warnings(bench).at(-1) ?? '',
    /reconcile failed: .*; add to its Role in the namespace default, or its ClusterRole, the rule .*verbs: \["patch"\]/,
  );
  bench.client.intercept = () => undefined;
  await bench.world.advance(60_000);
  assert.equal((await bench.client.get(pods, podKey)).metadata.labels?.color, 'a');
  await bench.stop();
});

test('B4: a server that was away for minutes is not asked for everything at once when it is back', async () => {
  const bench = new Bench({
    concurrency: 50,
    async reconcile(object, { client }) {
      await client.get(caches, { namespace: 'default', name: object.metadata.name ?? '' });
      return settled();
    },
  });
  for (let at = 0; at < 1_000; at += 1) {
    await bench.client.create(caches, { metadata: { namespace: 'default', name: `c-${at}` }, spec: { size: 1 } });
  }
  await bench.start();
  bench.client.intercept = (call) => {
    if (call.startsWith('GET')) throw StatusError.of('ServiceUnavailable', 'away');
  };
  for (let at = 0; at < 1_000; at += 1) {
    const name = { namespace: 'default', name: `c-${at}` };
    await bench.client.patch(caches, name, { type: 'merge', body: { spec: { size: 2 } } });
  }
  await bench.world.advance(300_000);
  bench.client.intercept = () => undefined;
  const perSecond: number[] = [];
  const from = bench.client.requests('GET').length;
  let before = from;
  for (let second = 0; second < 60; second += 1) {
    await bench.world.advance(1_000);
    const now = bench.client.requests('GET').length;
    perSecond.push(now - before);
    before = now;
  }
  assert.equal(before - from, 1_000, 'all keys have succeeded, once');
  assert.ok(Math.max(...perSecond) <= 100, `requests in each second: ${perSecond.join(' ')}`);
  await bench.stop();
});

test('B5: a finalizer that another took away while finalize ran is no error', async () => {
  const bench = new Bench({
    reconcile: async () => settled(),
    async finalize(_object, { client }) {
      await client.patch(caches, key, { type: 'merge', body: { metadata: { finalizers: null } } });
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  await bench.client.delete(caches, key);
  await bench.world.advance(1_000);
  assert.deepEqual(bench.errors, []);
  assert.deepEqual(bench.manager.cache.list(caches), []);
  await bench.stop();
});
