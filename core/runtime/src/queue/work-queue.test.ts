import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { KeyedBackoff } from './rate-limiter.js';
import { WorkQueue, type WorkQueueOptions } from './work-queue.js';

function setUp(options: Partial<WorkQueueOptions> = {}) {
  const world = simulatedWorld(1);
  return { world, queue: new WorkQueue({ clock: world.clock, ...options }) };
}

/** What `take` gives now; `undefined` when it would have to wait. */
async function taken(queue: WorkQueue): Promise<string | undefined> {
  return queue.length === 0 ? undefined : queue.take();
}

async function takenAll(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  for (let key = await taken(queue); key !== undefined; key = await taken(queue)) {
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

test('Q1, 1: many producers and workers handle every key, and no key is with two workers at once', async () => {
  const { world, queue } = setUp();
  const running = new Set<string>();
  const handled = new Map<string, number>();
  const worker = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      assert(!running.has(key), `${key} is with two workers`);
      running.add(key);
      await world.clock.sleep(world.random.next() * 10);
      running.delete(key);
      handled.set(key, (handled.get(key) ?? 0) + 1);
      queue.done(key);
    }
  };
  const producer = async (): Promise<void> => {
    for (let at = 0; at < 50; at += 1) {
      queue.add(`key-${Math.floor(world.random.next() * 20)}`);
      await world.clock.sleep(world.random.next() * 3);
    }
  };
  const workers = Promise.all([worker(), worker(), worker(), worker()]);
  await world.run(Promise.all([producer(), producer(), producer()]), 10_000);
  await world.run(queue.drain(), 10_000);
  await workers;
  assert.equal(handled.size, 20);
});

test('Q2, 2: a key added while running runs once more after it is done', async () => {
  const { queue } = setUp();
  queue.add('a');
  assert.equal(await taken(queue), 'a');
  queue.add('a');
  assert.equal(await taken(queue), undefined);
  queue.done('a');
  assert.equal(await taken(queue), 'a');
  queue.done('a');
  assert.equal(await taken(queue), undefined);
});

test('Q3, 3: ten adds of an idle key are one run, and ten while it runs are one more', async () => {
  const { queue } = setUp();
  for (let at = 0; at < 10; at += 1) queue.add('a');
  await queue.take();
  for (let at = 0; at < 10; at += 1) queue.add('a');
  queue.done('a');
  assert.deepEqual(await takenAll(queue), ['a']);
});

test('Q4, 4, 16: length counts keys that may be given out, neither running nor delayed ones', async () => {
  const { world, queue } = setUp();
  queue.add('a');
  queue.add('b');
  queue.addAfter('c', 100);
  assert.deepEqual([queue.length, queue.runningCount, queue.delayedCount], [2, 0, 1]);
  await queue.take();
  queue.add('a');
  assert.deepEqual([queue.length, queue.runningCount, queue.delayedCount], [1, 1, 1]);
  await world.advance(100);
  assert.deepEqual([queue.length, queue.runningCount, queue.delayedCount], [2, 1, 0]);
});

test('Q5, 5: a closed queue ignores adds and wakes workers that wait', async () => {
  const { world, queue } = setUp();
  const waiting = [queue.take(), queue.take()];
  queue.close();
  assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
  queue.add('a');
  queue.addAfter('b', 10);
  queue.retry('c');
  await world.advance(100);
  assert.equal(await queue.take(), undefined);
  assert.equal(world.pendingTimers, 0);
});

test('Q6, 6: a drain waits for ready, running and dirty keys, and takes no new ones', async () => {
  const { queue } = setUp();
  queue.add('a');
  queue.add('b');
  await queue.take();
  queue.add('a');
  let isDrained = false;
  const drained = queue.drain().then(() => {
    isDrained = true;
  });
  queue.add('c');
  queue.done('a');
  assert.equal(await queue.take(), 'b');
  assert.equal(await queue.take(), 'a');
  queue.done('b');
  assert.equal(isDrained, false);
  queue.done('a');
  await drained;
  assert.equal(await queue.take(), undefined);
});

test('Q6, 6: closing cuts a drain short', async () => {
  const { queue } = setUp();
  queue.add('a');
  await queue.take();
  const drained = queue.drain();
  const waiting = queue.take();
  queue.close();
  await drained;
  assert.equal(await waiting, undefined);
  queue.done('a');
});

test('Q5, 18: closing while keys are handed out to workers that wait leaves none of them waiting', async () => {
  const { queue } = setUp();
  const workers = [1, 2, 3].map(() => queue.take());
  queue.add('a');
  queue.add('b');
  queue.close();
  queue.done('a');
  assert.deepEqual(await Promise.all(workers), ['a', 'b', undefined]);
});

test('Q7, 7: after all is done the queue holds no key', async () => {
  const { world, queue } = setUp();
  for (let at = 0; at < 100; at += 1) queue.add(`key-${at}`, at % 3);
  await takenAll(queue);
  queue.addAfter('late', 50);
  queue.add('late');
  await takenAll(queue);
  await world.advance(50);
  assert.equal(queue.heldCount, 0);
});

test('Q8, 8: a delayed key is invisible before its time, and an earlier time replaces a later one', async () => {
  const { world, queue } = setUp();
  queue.addAfter('a', 100);
  queue.addAfter('a', 50);
  queue.addAfter('a', 80);
  await world.advance(49);
  assert.equal(await taken(queue), undefined);
  await world.advance(1);
  assert.deepEqual(await takenAll(queue), ['a']);
  await world.advance(100);
  assert.deepEqual(await takenAll(queue), [], 'the later times are gone');
  queue.addAfter('b', 100);
  queue.add('b');
  assert.deepEqual(await takenAll(queue), ['b']);
  await world.advance(100);
  assert.deepEqual(await takenAll(queue), []);
});

test('Q8: earlier and earlier times for one key do not add up in memory', async () => {
  const { queue } = setUp();
  for (let at = 10_000; at > 0; at -= 1) queue.addAfter('a', at);
  assert.ok(queue.heldCount < 200, `${queue.heldCount} are held`);
});

test('Q9, 9: delays fire in the order of their times, and none is as good as zero', async () => {
  const { world, queue } = setUp();
  queue.addAfter('c', 30);
  queue.addAfter('a', 10);
  queue.addAfter('b', 20);
  queue.addAfter('now', 0);
  queue.addAfter('past', -5);
  assert.deepEqual(await takenAll(queue), ['now', 'past']);
  await world.advance(30);
  assert.deepEqual(await takenAll(queue), ['a', 'b', 'c']);
});

test('Q10, 10, 17: backoff doubles per failure of a key, is capped, and is forgotten per key', async () => {
  const { world, queue } = setUp({ limiter: new KeyedBackoff({ baseMs: 5, capMs: 30_000 }) });
  const waits: number[] = [];
  for (let failure = 0; failure < 2_000; failure += 1) {
    const beforeMs = world.clock.monotonicNow();
    queue.retry('a');
    await world.step();
    if (failure < 3 || failure === 1_999) waits.push(world.clock.monotonicNow() - beforeMs);
    queue.done((await taken(queue)) ?? '');
  }
  assert.deepEqual(waits, [5, 10, 20, 30_000]);
  queue.retry('b');
  assert.equal(queue.failures('b'), 1);
  queue.forget('a');
  assert.deepEqual([queue.failures('a'), queue.failures('b')], [0, 1]);
});

test('Q9, 23: a key that was given out may be scheduled again, while it runs and afterwards', async () => {
  const { world, queue } = setUp();
  queue.addAfter('a', 10);
  await world.advance(10);
  assert.equal(await taken(queue), 'a');
  queue.addAfter('a', 10);
  await world.advance(10);
  assert.equal(await taken(queue), undefined);
  queue.done('a');
  assert.equal(await taken(queue), 'a');
  queue.done('a');
  queue.addAfter('a', 10);
  await world.advance(10);
  assert.deepEqual(await takenAll(queue), ['a']);
});

test('Q14, 26: adding, delaying and retrying never wait, however many keys wait already', async () => {
  const { world, queue } = setUp();
  for (let at = 0; at < 1_000; at += 1) queue.add(`key-${at}`);
  const runs = new Map<string, number>();
  const worker = async (): Promise<void> => {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const run = (runs.get(key) ?? 0) + 1;
      runs.set(key, run);
      if (run === 1) queue.add(key);
      if (run === 2) queue.addAfter(key, 5);
      if (run === 3) queue.retry(key);
      if (run === 4) queue.forget(key);
      queue.done(key);
    }
  };
  const working = worker();
  await world.advance(120_000);
  assert.deepEqual([runs.size, new Set(runs.values())], [1_000, new Set([4])]);
  queue.close();
  await world.run(working, 0);
});

test('Q12, 68: a retry keeps the priority at which the key was given out', async () => {
  const { world, queue } = setUp();
  queue.add('urgent', 5);
  assert.equal(await taken(queue), 'urgent');
  assert.equal(queue.priorityOf('urgent'), 5);
  queue.retry('urgent');
  queue.done('urgent');
  await world.advance(5);
  queue.add('a');
  assert.deepEqual(await takenAll(queue), ['urgent', 'a']);
});

test('Q11, 11: what is running and for how long can be asked at any time', async () => {
  const { world, queue } = setUp();
  queue.add('a');
  queue.add('b');
  queue.add('waiting');
  await queue.take();
  await world.advance(30);
  await queue.take();
  await world.advance(5);
  assert.deepEqual(queue.unfinished(), { totalMs: 40, longestMs: 35 });
  queue.done('a');
  queue.done('b');
  assert.deepEqual(queue.unfinished(), { totalMs: 0, longestMs: 0 });
});

test('Q11, 11: an observer is told of every step', async () => {
  const seen: string[] = [];
  const { world, queue } = setUp({
    observer: {
      onAdd: () => seen.push('add'),
      onTake: (waitedMs) => seen.push(`take after ${waitedMs}`),
      onDone: (ranMs) => seen.push(`done after ${ranMs}`),
      onRetry: () => seen.push('retry'),
      onClose: () => seen.push('close'),
    },
  });
  queue.add('a');
  await world.advance(7);
  await queue.take();
  await world.advance(3);
  queue.retry('a');
  queue.done('a');
  queue.close();
  queue.close();
  assert.deepEqual(seen, ['add', 'take after 7', 'retry', 'done after 3', 'close']);
});

test('Q12, 12, 13: higher priority first, in order within one; adding again raises and never lowers', async () => {
  const { queue } = setUp();
  queue.add('low', -1);
  queue.add('a');
  queue.add('b');
  queue.add('high', 5);
  queue.add('b', 7);
  queue.add('high', 1);
  queue.add('low', -9);
  assert.deepEqual(await takenAll(queue), ['b', 'high', 'a', 'low']);
});

test('Q12, 14: a ready key of low priority goes before a delayed one of high priority', async () => {
  const { world, queue } = setUp();
  queue.addAfter('high', 10, 9);
  queue.add('low', -9);
  assert.equal(await taken(queue), 'low');
  await world.advance(10);
  assert.equal(await taken(queue), 'high');
});

test('Q12, 15: a running key is passed over whatever its priority, and is given out when it is released', async () => {
  const { queue } = setUp();
  queue.add('a', 5);
  await queue.take();
  queue.add('a', 5);
  queue.add('b');
  assert.equal(await taken(queue), 'b');
  const next = queue.take();
  queue.done('a');
  assert.equal(await next, 'a');
});

test('Q13, 19: a key of low priority waits at most its bound while others keep coming', async () => {
  const { world, queue } = setUp({ maxWaitMs: 1_000 });
  queue.add('low', -1);
  for (let at = 0; ; at += 1) {
    queue.add(`high-${at}`, 1);
    queue.add(`high-${at}'`, 1);
    const key = (await taken(queue)) ?? '';
    queue.done(key);
    if (key === 'low') break;
    assert.ok(world.clock.monotonicNow() <= 1_100, 'low waits too long');
    await world.advance(100);
  }
  assert.ok(world.clock.monotonicNow() > 1_000);
});
