import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { simulatedEpochMs, simulatedWorld } from './simulated-world.js';

test('time passes only when it is told to', async () => {
  const world = simulatedWorld(1);
  let isAwake = false;
  const sleeping = world.clock.sleep(1000).then(() => {
    isAwake = true;
  });
  await world.advance(999);
  assert.equal(isAwake, false);
  await world.advance(1);
  assert.equal(isAwake, true);
  assert.equal(world.clock.now(), simulatedEpochMs + 1000);
  await sleeping;
});

test('promises go on between timers of the same time', async () => {
  const world = simulatedWorld(1);
  const log: string[] = [];
  const task = async (name: string) => {
    await world.clock.sleep(10);
    log.push(`${name} woke`);
    await Promise.resolve();
    log.push(`${name} went on`);
  };
  const tasks = [task('a'), task('b')];
  await world.advance(10);
  await Promise.all(tasks);
  assert.deepEqual(log, ['a woke', 'a went on', 'b woke', 'b went on']);
});

test('a timer that is set by a timer fires within the same advance', async () => {
  const world = simulatedWorld(1);
  const at: number[] = [];
  const tick = () => {
    at.push(world.clock.monotonicNow());
    world.clock.after(10, tick);
  };
  world.clock.after(10, tick);
  await world.advance(35);
  assert.deepEqual(at, [10, 20, 30]);
  assert.equal(world.clock.monotonicNow(), 35);
});

test('timers fire in the order of their times, then of their setting; cancelled ones do not', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.nat(20), fc.boolean()), { maxLength: 60 }), async (plans) => {
      const world = simulatedWorld(1);
      const fired: number[] = [];
      const cancels = plans.map(([delayMs], index) => world.clock.after(delayMs, () => fired.push(index)));
      for (const [index, [, isCancelled]] of plans.entries()) {
        if (isCancelled) cancels[index]?.();
      }
      const expected = plans
        .map(([delayMs, isCancelled], index) => ({ delayMs, isCancelled, index }))
        .filter((plan) => !plan.isCancelled)
        .sort((a, b) => a.delayMs - b.delayMs || a.index - b.index)
        .map((plan) => plan.index);
      assert.equal(world.pendingTimers, expected.length);
      await world.runUntilIdle(20);
      assert.deepEqual(fired, expected);
      assert.equal(world.pendingTimers, 0);
      for (const cancel of cancels) cancel();
      assert.equal(world.pendingTimers, 0);
    }),
    { numRuns: 60 },
  );
});

test('a jump of the wall clock moves neither the monotonic clock nor timers', async () => {
  const world = simulatedWorld(1);
  let hasFired = false;
  world.clock.after(100, () => {
    hasFired = true;
  });
  world.jumpWallClock(-3_600_000);
  assert.equal(world.clock.now(), simulatedEpochMs - 3_600_000);
  assert.equal(world.clock.monotonicNow(), 0);
  await world.advance(99);
  assert.equal(hasFired, false);
  await world.advance(1);
  assert.equal(hasFired, true);
});

test('an aborted sleep takes its timer with it', async () => {
  const world = simulatedWorld(1);
  const controller = new AbortController();
  const sleeping = world.clock.sleep(1000, controller.signal);
  assert.equal(world.pendingTimers, 1);
  controller.abort(new Error('stop'));
  await assert.rejects(sleeping, /stop/);
  assert.equal(world.pendingTimers, 0);
});

test('run goes on until a promise is settled and says when that cannot be', async () => {
  const world = simulatedWorld(7);
  const { clock } = world;
  const work = async () => {
    for (let round = 0; round < 5; round += 1) await clock.sleep(1000);
    return clock.monotonicNow();
  };
  assert.equal(await world.run(work(), 60_000), 5000);
  await assert.rejects(world.run(clock.sleep(10_000), 9_999), /not settled after 9999 ms of simulated time \(seed 7\)/);
  await world.runUntilIdle(60_000);
  await assert.rejects(world.run(new Promise(() => undefined), 60_000), /waits for ever \(seed 7\)/);
});

test('runUntilIdle says that something keeps setting timers', async () => {
  const world = simulatedWorld(3);
  const tick = () => {
    world.clock.after(10, tick);
  };
  tick();
  await assert.rejects(world.runUntilIdle(100), /1 timers are still set after 100 ms of simulated time \(seed 3\)/);
});

test('the same seed gives the same random numbers, another seed others', () => {
  const draw = (seed: number) => {
    const { random } = simulatedWorld(seed);
    return [random.next(), random.string(10), random.uuid()];
  };
  assert.deepEqual(draw(42), draw(42));
  assert.notDeepEqual(draw(42), draw(43));
});

test('random numbers are spread evenly', () => {
  const { random } = simulatedWorld(5);
  const buckets = new Array<number>(10).fill(0);
  for (let round = 0; round < 100_000; round += 1) {
    const bucket = Math.floor(random.next() * 10);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  for (const count of buckets) assert.ok(Math.abs(count - 10_000) < 500, `${buckets}`);
});
