import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps, eventsV1, type Pod, pods, secrets } from '@castellan/machinery';
import { blocked, cached, index, metadataOf, pick, settled, wait } from '../src/index.js';
import { Bench, type Cache, caches, key } from './cache-bench.js';

function podFor({ spec }: Cache, env: Readonly<Record<string, string>> = {}): Pod {
  const variables = Object.entries(env).map(([name, value]) => ({ name, value }));
  return {
    metadata: { name: 'a-0', labels: { app: 'a' } },
    spec: { containers: [{ name: 'main', image: spec.image ?? 'one', env: variables }] },
  };
}

test('O1: ensure applies what is desired, owned by the object and in its namespace; a second run sends nothing', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(object, { ensure, owned }) {
      await ensure(pods, podFor(object));
      assert.equal(owned(pods).length, 1);
      return settled();
    },
  });
  const { metadata } = await bench.create();
  bench.takeWrites();
  await bench.start();
  assert.deepEqual(bench.errors, []);
  const pod = await bench.client.get(pods, { namespace: 'default', name: 'a-0' });
  assert.deepEqual(pod.metadata.ownerReferences, [
    {
      apiVersion: 'example.com/v1',
      kind: 'Cache',
      name: 'a',
      uid: metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    },
  ]);
  assert.equal(bench.takeWrites().length, 1);
  await bench.patch({ metadata: { labels: { touched: 'yes' } } });
  assert.deepEqual(
    bench.takeWrites().filter((call) => call.includes('/pods')),
    [],
  );
  await bench.stop();
});

test('a controller of objects finds others by an index that it names', async () => {
  const labelled = metadataOf(secrets);
  const byColor = index(labelled, 'color', ({ metadata }) => [metadata.labels?.color ?? '']);
  let found: readonly (string | undefined)[] = [];
  const bench = new Bench({
    owns: [labelled],
    indexes: [byColor],
    reconcile(_object, { cache }) {
      found = cache.byIndex(byColor, 'red').map(({ metadata }) => metadata.name);
      return settled();
    },
  });
  for (const [name, color] of Object.entries({ a: 'red', b: 'blue' })) {
    await bench.client.create(secrets, { metadata: { namespace: 'default', name, labels: { color } } });
  }
  await bench.create();
  await bench.start();
  assert.deepEqual(found, ['a']);
  await bench.stop();
});

test('O1: what the server stores in another form than it was given is not sent again and again', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(object, { ensure }) {
      await ensure(pods, podFor(object, { QUANTITY: '1000m' }));
      return settled();
    },
  });
  await bench.create();
  const create = bench.client.patch.bind(bench.client);
  bench.client.patch = async (type, at, patch, options) => {
    const text = JSON.stringify(patch.body).replace('1000m', '1');
    return create(type, at, { ...patch, body: JSON.parse(text) }, options);
  };
  await bench.start();
  bench.takeWrites();
  for (const at of ['1', '2', '3']) await bench.patch({ metadata: { labels: { at } } });
  assert.deepEqual(
    bench.takeWrites().filter((call) => call.includes('/pods')),
    [],
  );
  await bench.client.patch(
    pods,
    { namespace: 'default', name: 'a-0' },
    { type: 'merge', body: { spec: { containers: [] } } },
  );
  await bench.world.advance(0);
  assert.equal(bench.takeWrites().filter((call) => call.includes('/pods') && call.includes('QUANTITY')).length, 1);
  await bench.stop();
});

test('O2: a field that is wanted no more is given up, one that another changed is taken back, and those of others stay', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(object, { ensure }) {
      await ensure(pods, podFor(object, object.spec.token === undefined ? {} : { TOKEN: object.spec.token }));
      return settled();
    },
  });
  await bench.create({ size: 1, token: 'x' });
  await bench.start();
  const at = { namespace: 'default', name: 'a-0' };
  const change = { spec: { nodeName: 'node-1' }, metadata: { labels: { app: 'theirs', other: 'theirs' } } };
  await bench.client.patch(pods, at, { type: 'merge', body: change });
  await bench.world.advance(0);
  const { metadata, spec } = await bench.client.get(pods, at);
  assert.deepEqual([metadata.labels, spec?.nodeName], [{ app: 'a', other: 'theirs' }, 'node-1']);
  assert.deepEqual(spec?.containers[0]?.env, [{ name: 'TOKEN', value: 'x' }]);
  await bench.patch({ spec: { token: null } });
  assert.deepEqual((await bench.client.get(pods, at)).spec?.containers, [{ name: 'main', image: 'one' }]);
  assert.deepEqual(bench.errors, []);
  await bench.stop();
});

test('O1: a type that is not cached is read from the server first', async () => {
  const bench = new Bench({
    async reconcile(_object, { ensure }) {
      await ensure(secrets, { metadata: { name: 's' }, type: 'Opaque' }, { isOwned: false });
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  await bench.patch({ metadata: { labels: { touched: 'yes' } } });
  const requests = bench.client.calls.filter((call) => call.includes('/secrets/s'));
  assert.deepEqual(
    requests.map((call) => call.split(' ')[0]),
    ['GET', 'PATCH', 'GET'],
  );
  const secret = await bench.client.get(secrets, { namespace: 'default', name: 's' });
  assert.equal(secret.metadata.ownerReferences, undefined);
  await bench.stop();
});

for (const [what, podType] of [
  ['some fields of its type', pick(pods, ['status.phase'])],
  ['the metadata of its type', metadataOf(pods)],
] as const) {
  test(`O1: where the cache has ${what} only, an object is read once per version of it, and not written`, async () => {
    const bench = new Bench({
      owns: [podType],
      async reconcile(object, { ensure }) {
        const { metadata } = await ensure(pods, podFor(object));
        assert.equal(metadata.name, 'a-0');
        assert.notEqual(metadata.uid, undefined);
        return settled();
      },
    });
    await bench.create();
    await bench.start();
    const requests = () =>
      bench.client.calls.filter((call) => call.includes('/pods/')).map((call) => call.split(' ')[0]);
    assert.deepEqual(requests(), ['GET', 'PATCH']);
    await bench.patch({ metadata: { labels: { touched: 'yes' } } });
    assert.deepEqual(requests(), ['GET', 'PATCH']);
    await bench.client.patch(
      pods,
      { namespace: 'default', name: 'a-0' },
      { type: 'merge', body: { spec: { priority: 1 } } },
    );
    await bench.world.advance(0);
    assert.deepEqual(requests(), ['GET', 'PATCH', 'PATCH', 'GET']);
    await bench.patch({ spec: { image: 'two' } });
    assert.deepEqual(requests(), ['GET', 'PATCH', 'PATCH', 'GET', 'GET', 'PATCH']);
    assert.deepEqual(bench.errors, []);
    await bench.stop();
  });
}

test('O1: where the cache has a selection of a type, what is in it needs no read', async () => {
  const bench = new Bench({
    owns: [cached(pods, { labelSelector: 'app=a' })],
    async reconcile(object, { ensure }) {
      await ensure(pods, podFor(object));
      return settled();
    },
  });
  await bench.create();
  await bench.start();
  await bench.patch({ metadata: { labels: { touched: 'yes' } } });
  const requests = bench.client.calls.filter((call) => call.includes('/pods/')).map((call) => call.split(' ')[0]);
  assert.deepEqual([requests, bench.errors], [['GET', 'PATCH'], []]);
  await bench.stop();
});

test('an object of another controller is not taken, and none in another namespace is owned', async () => {
  const bench = new Bench({
    owns: [pods, configMaps],
    async reconcile(object, { ensure }) {
      if (object.spec.size === 1) await ensure(pods, podFor(object));
      else await ensure(configMaps, { metadata: { namespace: 'other', name: 'c' } });
      return settled();
    },
  });
  const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid: 'uid-x', controller: true };
  await bench.client.create(pods, { metadata: { namespace: 'default', name: 'a-0', ownerReferences: [reference] } });
  await bench.create();
  await bench.start();
  assert.match(String(bench.errors[0]), /Pod default\/a-0 has another controller, ConfigMap theirs/);
  await bench.patch({ spec: { size: 2 } });
  assert.match(String(bench.errors.at(-1)), /ConfigMap other\/c cannot be owned by Cache default\/a.*isOwned: false/);
  await bench.stop();
});

test('what is being deleted is waited for, not failed on, and made anew when it is gone', async () => {
  const bench = new Bench({
    owns: [pods],
    async reconcile(object, { ensure }) {
      await ensure(pods, podFor(object));
      return settled();
    },
  });
  const at = { namespace: 'default', name: 'a-0' };
  await bench.client.create(pods, { metadata: { ...at, finalizers: ['x/y'] } });
  await bench.client.delete(pods, at);
  await bench.create();
  await bench.start();
  assert.deepEqual(bench.errors, []);
  await bench.client.patch(pods, at, { type: 'merge', body: { metadata: { finalizers: null } } });
  // It was not ours, so its end tells us nothing: it is looked at again.
  await bench.world.advance(6_000);
  assert.equal((await bench.client.get(pods, at)).metadata.deletionTimestamp, undefined);
  await bench.stop();
});

test('O6: a finalizer is there before the first reconcile, stays while finalize waits or is blocked, and goes when it has settled', async () => {
  const seen: string[] = [];
  let isDrained = false;
  const bench = new Bench({
    async reconcile({ metadata }) {
      seen.push(`reconcile with ${metadata.finalizers?.join()}`);
      return settled();
    },
    async finalize() {
      seen.push('finalize');
      return isDrained ? settled('drained') : wait('2 connections are open', 10_000);
    },
  });
  await bench.create({ size: 1 }, { finalizers: ['other/one'] });
  await bench.start();
  assert.deepEqual(seen[0], 'reconcile with other/one,example.com/cache');
  seen.length = 0;
  await bench.client.delete(caches, key);
  await bench.world.advance(9_000);
  assert.deepEqual(seen, ['finalize']);
  assert.deepEqual((await bench.object()).metadata.finalizers, ['other/one', 'example.com/cache']);
  isDrained = true;
  await bench.world.advance(2_000);
  assert.deepEqual((await bench.object()).metadata.finalizers, ['other/one']);
  assert.deepEqual(seen, ['finalize', 'finalize']);
  await bench.world.advance(600_000);
  assert.deepEqual(seen, ['finalize', 'finalize'], 'what others still hold is not ours any more');
  await bench.patch({ metadata: { finalizers: null } });
  assert.deepEqual(bench.manager.cache.list(caches), []);
  await bench.stop();
});

test('O6: adding a finalizer keeps what another wrote in between', async () => {
  const bench = new Bench({ reconcile: async () => settled(), finalize: async () => settled() });
  await bench.create();
  bench.client.intercept = async (call) => {
    if (!call.includes('example.com/cache')) return;
    bench.client.intercept = () => undefined;
    await bench.client.patch(caches, key, { type: 'merge', body: { metadata: { finalizers: ['other/one'] } } });
  };
  await bench.start();
  assert.deepEqual((await bench.object()).metadata.finalizers, ['other/one', 'example.com/cache']);
  await bench.stop();
});

test('O7: without finalize there is no finalizer, and an object that is being deleted is left alone', async () => {
  let runs = 0;
  const bench = new Bench({
    async reconcile() {
      runs += 1;
      return settled();
    },
  });
  await bench.create({ size: 1 }, { finalizers: ['other/one'] });
  await bench.client.delete(caches, key);
  bench.takeWrites();
  await bench.start();
  assert.deepEqual([runs, bench.takeWrites()], [0, []]);
  await bench.stop();
});

test('O8: a result that is no decision is refused in plain words, and not tried again', async () => {
  const bench = new Bench({
    name: 'forgetful',
    reconcile: (async () => undefined) as never,
  });
  await bench.create();
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual(
    bench.errors.map((error) => String(error).split('\n')[0]),
    [
      'TerminalError: the reconcile of controller forgetful returned undefined, which is no decision: return settled(), ' +
        'wait(reason, ms) or blocked(reason, remedy)',
    ],
  );
  await bench.stop();
});

test('O9: a decision is said once: in the log, as a condition where one is named, and as an event when a person is needed', async () => {
  const bench = new Bench({
    condition: 'Ready',
    async reconcile({ spec }) {
      if (spec.size > 2) return blocked('3 do not fit on 2 nodes', 'add a node');
      return spec.size > 1 ? wait('1 of 2 is ready', 1_000) : settled();
    },
  });
  await bench.create({ size: 1 });
  await bench.start();
  const ready = async () => {
    const { status, reason, message } = (await bench.object()).status?.conditions?.[0] ?? {};
    return [status, reason, message];
  };
  assert.deepEqual(await ready(), ['True', 'Settled', 'all is as it was asked for']);
  await bench.patch({ spec: { size: 2 } });
  await bench.world.advance(10_000);
  assert.deepEqual(await ready(), ['False', 'Waiting', '1 of 2 is ready']);
  await bench.patch({ spec: { size: 3 } });
  await bench.world.advance(200_000);
  assert.deepEqual(await ready(), ['False', 'Blocked', '3 do not fit on 2 nodes; add a node']);
  const said = bench.logged.filter(({ decision }) => decision !== undefined);
  assert.deepEqual(
    said.map(({ decision, message }) => `${decision}: ${message}`),
    ['settled: all is as it was asked for', 'wait: 1 of 2 is ready', 'blocked: 3 do not fit on 2 nodes; add a node'],
  );
  const events = (await bench.client.list(eventsV1)).items;
  assert.deepEqual(
    events.map(({ type, reason }) => [type, reason]),
    [['Warning', 'Blocked']],
  );
  await bench.stop();
});

test('context.get, list and event are those of the object, and what they give cannot be changed', async () => {
  const bench = new Bench({
    watches: [],
    owns: [configMaps],
    async reconcile(object, { get, list, event }) {
      assert.equal(get(configMaps, { namespace: 'default', name: 'c' })?.data?.x, '1');
      assert.equal(list(configMaps).length, 1);
      assert.ok(Object.isFrozen(object.spec));
      event({ type: 'Normal', reason: 'Looked', message: 'looked around' });
      return settled();
    },
  });
  const map: ConfigMap = { metadata: { namespace: 'default', name: 'c' }, data: { x: '1' } };
  await bench.client.create(configMaps, map);
  await bench.create();
  await bench.start();
  assert.deepEqual(bench.errors, []);
  const [event] = (await bench.client.list(eventsV1)).items;
  assert.deepEqual([event?.reason, event?.regarding?.name], ['Looked', 'a']);
  await bench.stop();
});
