import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import fc from 'fast-check';
import { WorkQueue } from './work-queue.js';

function setUp() {
  const world = simulatedWorld(1);
  return { world, queue: new WorkQueue({ clock: world.clock }) };
}

/** What `take` gives now; `undefined` when it would have to wait. */
async function taken(queue: WorkQueue): Promise<string | undefined> {
  return queue.length === 0 ? undefined : queue.take();
}

test('Q1, Q2, Q3, Q4, Q8, Q12, 20: behaves as a naive model in any sequence of calls', async () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const priority = fc.integer({ min: -1, max: 1 });
  const call = fc.oneof(
    fc.record({ call: fc.constant('add' as const), key, priority }),
    fc.record({ call: fc.constant('addAfter' as const), key, priority, ms: fc.integer({ min: -1, max: 20 }) }),
    fc.record({ call: fc.constant('take' as const) }),
    fc.record({ call: fc.constant('done' as const), key }),
    fc.record({ call: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 8 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 60 }), async (calls) => {
      const { world, queue } = setUp();
      const model = new NaiveQueue(() => world.clock.monotonicNow());
      for (const step of calls) {
        if (step.call === 'add') {
          queue.add(step.key, step.priority);
          model.add(step.key, 0, step.priority);
        } else if (step.call === 'addAfter') {
          queue.addAfter(step.key, step.ms, step.priority);
          model.add(step.key, Math.max(0, step.ms), step.priority);
        } else if (step.call === 'advance') {
          await world.advance(step.ms);
        } else if (step.call === 'done') {
          queue.done(step.key);
          model.running.delete(step.key);
        } else {
          const given = await taken(queue);
          const allowed = model.next();
          if (given === undefined) assert.deepEqual(allowed, []);
          else assert(allowed.includes(given), `${given} was given out, of ${allowed}`);
          model.take(given);
        }
        assert.deepEqual([queue.length, queue.runningCount, queue.delayedCount], model.counts());
      }
      queue.close();
      assert.equal(world.pendingTimers, 0);
    }),
    { numRuns: 500 },
  );
});

/** A queue as plainly as it can be written: every question is answered by looking at all keys. */
class NaiveQueue {
  readonly running = new Set<string>();
  readonly #pending = new Map<string, { readonly dueMs: number; readonly priority: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(key: string, delayMs: number, priority: number): void {
    const dueMs = this.#now() + delayMs;
    const pending = this.#pending.get(key);
    if (pending === undefined) this.#pending.set(key, { dueMs, priority });
    else if (pending.dueMs > this.#now() || delayMs === 0) {
      this.#pending.set(key, {
        dueMs: Math.min(dueMs, pending.dueMs),
        priority: Math.max(priority, pending.priority),
      });
    }
  }

  /** The keys any of which may be given out next. */
  next(): readonly string[] {
    const ready = this.#ready();
    const highest = Math.max(...ready.map(([, { priority }]) => priority));
    return ready.filter(([, { priority }]) => priority === highest).map(([key]) => key);
  }

  take(key: string | undefined): void {
    if (key === undefined) return;
    this.#pending.delete(key);
    this.running.add(key);
  }

  counts(): readonly number[] {
    const delayed = [...this.#pending.values()].filter(({ dueMs }) => dueMs > this.#now());
    return [this.#ready().length, this.running.size, delayed.length];
  }

  #ready() {
    return [...this.#pending].filter(([key, { dueMs }]) => dueMs <= this.#now() && !this.running.has(key));
  }
}
