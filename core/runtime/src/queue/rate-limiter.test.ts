import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { BucketLimiter, KeyedBackoff, longestOf } from './rate-limiter.js';

test('Q15, 10: of composed limiters the longest wait counts, and each key has its own failures', () => {
  const { clock } = simulatedWorld(1);
  const limiter = longestOf(
    new KeyedBackoff({ baseMs: 5, capMs: 1_000 }),
    new BucketLimiter({ clock, perSecond: 10, burst: 2 }),
  );
  assert.deepEqual(
    ['a', 'a', 'a', 'b'].map((key) => limiter.next(key)),
    [5, 10, 100, 200],
  );
  assert.deepEqual([limiter.failures('a'), limiter.failures('b')], [3, 1]);
  limiter.forget('a');
  assert.deepEqual([limiter.failures('a'), limiter.failures('b')], [0, 1]);
});

test('Q15, 10: a bucket gives its burst at once, then one token at a time, and fills up to its burst only', async () => {
  const world = simulatedWorld(1);
  const bucket = new BucketLimiter({ clock: world.clock, perSecond: 10, burst: 2 });
  const waits = () => [bucket.next(), bucket.next(), bucket.next(), bucket.next()];
  assert.deepEqual(waits(), [0, 0, 100, 200]);
  await world.advance(60_000);
  assert.deepEqual(waits(), [0, 0, 100, 200]);
});

test('Q10, 10: waits of a second and more are shortened by chance, by a half at most', () => {
  const backoff = new KeyedBackoff({ baseMs: 500, capMs: 30_000, random: simulatedWorld(3).random });
  const waits = Array.from({ length: 40 }, () => backoff.next('a'));
  assert.deepEqual(waits[0], 500);
  const atCap = waits.slice(7);
  assert.ok(atCap.every((wait) => wait >= 15_000 && wait <= 30_000));
  assert.equal(new Set(atCap).size, atCap.length);
});
