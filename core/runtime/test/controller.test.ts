import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, pods, StatusError, secrets } from '@castellan/machinery';
import { watchSource } from '../src/index.js';
import { a, Bench } from './controller-bench.js';

const nothing = async (): Promise<undefined> => undefined;

test('62: nothing is reconciled before the first lists of all sources are handled', async () => {
  const bench = new Bench(nothing, { owns: [pods], watches: [watchSource({ type: secrets, map: () => [] })] });
  await bench.create('a');
  bench.client.intercept = (call) => {
    if (call.startsWith('WATCH pods')) throw StatusError.of('ServiceUnavailable', 'not yet');
  };
  await bench.start();
  await bench.world.advance(10_000);
  assert.deepEqual(bench.runs, []);
  assert.equal(bench.manager.status().isReady, false);
  bench.client.intercept = () => undefined;
  await bench.world.advance(30_000);
  assert.deepEqual(bench.runs, ['a']);
  assert.equal(bench.manager.status().isReady, true);
  await bench.stop();
});

test('24: keys that are asked for before the caches are complete are merged into one run', async () => {
  const bench = new Bench(nothing, { watches: [watchSource({ type: secrets, map: () => [a] })] });
  await bench.create('a');
  for (const name of ['x', 'y', 'z']) await bench.client.create(secrets, { metadata: { namespace: 'default', name } });
  await bench.start();
  assert.deepEqual(bench.runs, ['a']);
  await bench.stop();
});

test('69: a reconcile is told of its deadline, counts as failed, and its key is not given out until it has ended', async () => {
  const bench = new Bench(
    async (_name, { world, signal }, { runs }) => {
      if (runs.length > 1) return undefined;
      assert.equal(signal.aborted, false);
      await world.clock.sleep(5_000);
      assert.equal(signal.aborted, true);
      return undefined;
    },
    { deadlineMs: 1_000 },
  );
  await bench.create('a');
  await bench.start();
  await bench.world.advance(4_999);
  assert.deepEqual([bench.runs.length, bench.status.running], [1, 1]);
  await bench.world.advance(100);
  assert.equal(bench.runs.length, 2);
  assert.deepEqual([bench.status.failures, bench.status.deadlinesMissed], [1, 1]);
  assert.match(String(bench.errors[0]), /the reconcile of default\/a by test/);
  await bench.stop();
});

test('69: requests of a reconcile end at its deadline without being told', async () => {
  const bench = new Bench(
    async (_name, { client }, { runs }) => {
      if (runs.length === 1) await client.get(secrets, a);
      return undefined;
    },
    { deadlineMs: 1_000 },
  );
  await bench.create('a');
  bench.client.intercept = (call, options) => {
    if (!call.startsWith('GET')) return;
    const { signal } = options as { signal: AbortSignal };
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  };
  await bench.start();
  await bench.world.advance(1_100);
  assert.deepEqual([bench.runs.length, bench.status.deadlinesMissed], [2, 1]);
  await bench.stop();
});

test('21, 25: as many keys as told are reconciled at once, and one that hangs holds up no other', async () => {
  let running = 0;
  let most = 0;
  const bench = new Bench(
    async (name, { world }) => {
      running += 1;
      most = Math.max(most, running);
      await world.clock.sleep(name === 'slow' ? 50_000 : 100);
      running -= 1;
      return undefined;
    },
    { concurrency: 3 },
  );
  await bench.create('slow', ...Array.from({ length: 20 }, (_, at) => `quick-${at}`));
  await bench.start();
  await bench.world.advance(1_000);
  assert.equal(most, 3);
  assert.deepEqual([bench.status.waiting, bench.status.running], [0, 1]);
  await bench.world.advance(50_000);
  await bench.stop();
});

test('an owned object that changes, is taken away or goes is a reason to reconcile its owner', async () => {
  const bench = new Bench(nothing, { owns: [pods] });
  await bench.create('a', 'b');
  await bench.start();
  bench.takeRuns();
  const owner = (name: string) => [
    { apiVersion: 'v1', kind: 'ConfigMap', name, uid: `uid-of-${name}`, controller: true },
  ];
  await bench.client.create(pods, { metadata: { namespace: 'default', name: 'pod', ownerReferences: owner('a') } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  const moved = { type: 'merge', body: { metadata: { ownerReferences: owner('b') } } } as const;
  await bench.client.patch(pods, { namespace: 'default', name: 'pod' }, moved);
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a', 'b']);
  await bench.client.delete(pods, { namespace: 'default', name: 'pod' });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['b']);
  assert.equal(bench.status.keys.find(({ key }) => key === 'default/b')?.trigger, 'pods default/pod was deleted');
  const stranger = [{ apiVersion: 'apps/v1', kind: 'ConfigMap', name: 'a', uid: 'x', controller: true }];
  await bench.client.create(pods, { metadata: { namespace: 'default', name: 'other', ownerReferences: stranger } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), [], 'a kind of another group is another kind');
  await bench.stop();
});

test('W1, 56: a reconcile reads from the cache what it has just written, with the watch held back', async () => {
  const seen: (string | undefined)[] = [];
  const bench = new Bench(
    async (name, { client, cache }, { runs }) => {
      if (runs.length > 1) return undefined;
      const key = { namespace: 'default', name };
      const read = (): string | undefined => cache.get(secrets, key)?.type;
      const created = await client.create(secrets, { metadata: key, type: 'one' });
      seen.push(read());
      await client.patch(secrets, key, { type: 'merge', body: { type: 'two' } });
      seen.push(read());
      await client.update(secrets, { ...created, metadata: { ...key }, type: 'three' }, { dryRun: true });
      await client.delete(secrets, key);
      seen.push(cache.get(secrets, key)?.metadata.deletionTimestamp === undefined ? 'there' : 'going');
      return undefined;
    },
    { owns: [secrets] },
  );
  await bench.create('a');
  bench.client.isWatchHeld = true;
  await bench.start();
  assert.deepEqual(seen, ['one', 'two', 'going']);
  bench.client.release();
  await bench.world.advance(0);
  assert.deepEqual(bench.manager.cache.list(secrets), []);
  await bench.stop();
});

test('71: every line of a reconcile names the controller, the key and a number of its own', async () => {
  const bench = new Bench(async (_name, { log }) => {
    log.info('hello');
    return undefined;
  });
  await bench.create('a', 'b');
  await bench.start();
  const lines = bench.logged.filter(({ message }) => message === 'hello');
  assert.deepEqual(
    lines.map(({ controller, key, reconcile }) => [controller, key, reconcile]),
    [
      ['test', 'default/a', 1],
      ['test', 'default/b', 2],
    ],
  );
  await bench.stop();
});

test('a change that concerns a key in several ways is one run of it', async () => {
  const bench = new Bench(nothing, { watches: [watchSource({ type: configMaps, map: () => [a, a] })] });
  await bench.create('a');
  await bench.start();
  bench.takeRuns();
  await bench.client.patch(configMaps, a, { type: 'merge', body: { data: { x: '1' } } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  await bench.stop();
});

test('what is remembered of a key goes when its object has gone', async () => {
  const bench = new Bench(nothing);
  await bench.create('a');
  await bench.start();
  assert.equal(bench.status.keys.length, 1);
  await bench.client.delete(configMaps, a);
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a', 'a']);
  assert.equal(bench.status.keys.length, 0);
  await bench.stop();
});

test('reading a kind that nobody watches is refused in plain words', async () => {
  const bench = new Bench(nothing);
  assert.throws(
    () => bench.manager.cache.get(pods, a),
    /no controller of this manager watches pods\/v1.*configmaps\/v1/,
  );
  await bench.start();
  await bench.stop();
});
