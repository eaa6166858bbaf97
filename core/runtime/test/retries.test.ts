import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, secrets } from '@castellan/machinery';
import { type ReconcileResult, TerminalError, watchSource } from '../src/index.js';
import { a, Bench } from './controller-bench.js';

test('64: a reconcile that throws is counted, reported and tried again with growing waits', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    if (atMs.length <= 5) throw new Error(`failure ${atMs.length}`);
    return undefined;
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual(atMs, [0, 5, 15, 35, 75, 155]);
  assert.equal(bench.status.failures, 5);
  assert.equal(bench.errors.length, 5);
  const [key] = bench.status.keys;
  assert.deepEqual([key?.outcome, key?.failures, key?.trigger], ['done', 0, 'retry 5 after: failure 5']);
  await bench.stop();
});

test('64: the wait between two tries never grows beyond 30 s', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    throw new Error('always');
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(300_000);
  const waits = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
  assert.ok(waits.every((wait) => wait <= 30_000));
  assert.ok(Math.min(...waits.slice(14)) >= 15_000, 'and not much less than that: half of it at most is by chance');
  assert.equal(new Set(waits.slice(14)).size, waits.length - 14, 'no two of them alike');
  await bench.stop();
});

test('65: a terminal error is not tried again until something changes', async () => {
  const bench = new Bench(async () => {
    throw new TerminalError('the spec makes no sense');
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(3_600_000);
  assert.deepEqual(bench.takeRuns(), ['a']);
  assert.equal(bench.status.keys[0]?.outcome, 'terminal');
  await bench.client.patch(configMaps, a, { type: 'merge', body: { data: { x: '1' } } });
  await bench.world.advance(0);
  assert.deepEqual(bench.takeRuns(), ['a']);
  await bench.stop();
});

test('67: a reconcile that asks to look again runs after that time, and its earlier failures are forgotten', async () => {
  const bench = new Bench(async (_name, _context, { runs }) => {
    if (runs.length < 3) throw new Error('not yet');
    return { requeueAfterMs: 5_000 };
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(100);
  assert.equal(bench.takeRuns().length, 3);
  await bench.world.advance(4_899);
  assert.equal(bench.runs.length, 0);
  assert.equal(bench.status.delayed, 1);
  bench.runs.push('', '');
  await bench.world.advance(200);
  assert.equal(bench.status.keys[0]?.trigger, '5000 ms after the last time');
  assert.equal(bench.status.keys[0]?.failures, 0);
  await bench.stop();
});

test('67: a time too short for the clock to tell from now is a later one', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    return atMs.length < 5 ? { requeueAfterMs: 1e-12 } : undefined;
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual(atMs, [0, 1, 2, 3, 4]);
  await bench.stop();
});

test('66: a throw is tried again after its backoff, whatever time an earlier run asked for', async () => {
  const atMs: number[] = [];
  const bench = new Bench(async (_name, _context, { world }) => {
    atMs.push(world.clock.monotonicNow());
    if (atMs.length === 2) throw new Error('not now');
    return { requeueAfterMs: 50_000 };
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(60_000);
  assert.deepEqual(atMs, [0, 50_000, 50_005]);
  await bench.stop();
});

test('68: a key that failed is tried again at the priority that it had', async () => {
  const order: string[] = [];
  const bench = new Bench(
    async (name, { world }) => {
      order.push(name);
      await world.clock.sleep(20);
      if (name === 'urgent' && order.length < 3) throw new Error('not yet');
      return undefined;
    },
    { watches: [watchSource({ type: secrets, priority: 10, map: () => [{ namespace: 'default', name: 'urgent' }] })] },
  );
  await bench.create('a', 'b', 'c', 'd');
  await bench.client.create(secrets, { metadata: { namespace: 'default', name: 's' } });
  await bench.start();
  await bench.world.advance(1_000);
  assert.deepEqual(order, ['urgent', 'a', 'urgent', 'b', 'c', 'd']);
  await bench.stop();
});

test('a conflict is retried without a warning, because the retry reads what the other wrote', async () => {
  const bench = new Bench(async (_name, { client }, { runs }) => {
    if (runs.length > 1) return undefined;
    await client.update(configMaps, { metadata: { ...a, resourceVersion: '1' } });
    return undefined;
  });
  await bench.create('a');
  await bench.start();
  await bench.world.advance(100);
  assert.equal(bench.runs.length, 2);
  assert.deepEqual(
    bench.logged.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
  await bench.stop();
});

for (const [what, result, message] of [
  ['nothing sensible', 'done', /the reconcile of controller test returned 'done': return undefined, or/],
  ['an impossible time', { requeueAfterMs: Number.NaN }, /returned \{ requeueAfterMs: NaN \}: return undefined, or/],
  ['a negative time', { requeueAfterMs: -1 }, /returned \{ requeueAfterMs: -1 \}: return undefined, or/],
] as const) {
  test(`B6: a reconcile that returns ${what} is told what it may return, and not tried again`, async () => {
    const bench = new Bench(async () => result as ReconcileResult);
    await bench.create('a');
    await bench.start();
    await bench.world.advance(60_000);
    assert.equal(bench.errors.length, 1);
    assert.match(String(bench.errors[0]), message);
    await bench.stop();
  });
}
