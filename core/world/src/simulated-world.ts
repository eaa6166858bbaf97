import { randomFrom, seededUint32 } from './random.js';
import { sleepWith } from './sleep.js';
import { TimerQueue } from './timer-queue.js';
import type { Clock, Random, World } from './world.js';

/** Where a simulated world's wall clock begins: 2026-01-01T00:00:00Z, in milliseconds. */
export const simulatedEpochMs = Date.UTC(2026, 0, 1);

/** How often promises get their turn with no timer set, before a run is held to be stuck. */
const turnsBeforeStuck = 20;

/** Node's names of what reads a module's file: open and read, and close. */
const fileRequests: readonly string[] = ['FSReqPromise', 'CloseReq'];

/**
 * A world whose time passes only when it is told to, and whose random numbers come from `seed`: the same seed and the
 * same program give the same run.
 */
export function simulatedWorld(seed: number): SimulatedWorld {
  return new SimulatedWorld(seed);
}

/**
 * Timers fire in the order of their times, those of one time in the order in which they were set. After each one all
 * promises that can go on do so, before the next one fires.
 */
export class SimulatedWorld implements World {
  readonly seed: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly #timers = new TimerQueue();
  #monotonicMs = 0;
  #wallOffsetMs = simulatedEpochMs;

  constructor(seed: number) {
    this.seed = seed;
    this.random = randomFrom(seededUint32(seed));
    const after: Clock['after'] = (delayMs, callback) => {
      const timer = this.#timers.add(this.#monotonicMs + Math.max(0, delayMs), callback);
      return () => this.#timers.cancel(timer);
    };
    this.clock = {
      now: () => this.#monotonicMs + this.#wallOffsetMs,
      monotonicNow: () => this.#monotonicMs,
      after,
      sleep: (delayMs, signal) => sleepWith(after, delayMs, signal),
    };
  }

  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Sets the wall clock forward, or back; the monotonic clock and timers do not notice. */
  jumpWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Lets `ms` milliseconds pass with all that happens in them. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonicMs + ms;
    await nextTurn();
    for (let next = this.#timers.peek(); next !== undefined && next.at <= end; next = this.#timers.peek()) {
      await this.step();
    }
    this.#monotonicMs = end;
  }

  /** Goes to the next timer and fires it; `false` where none is set. What the callback throws, this throws. */
  async step(): Promise<boolean> {
    const timer = this.#timers.take();
    if (timer === undefined) return false;
    this.#monotonicMs = Math.max(this.#monotonicMs, timer.at);
    timer.callback();
    await nextTurn();
    return true;
  }

  /** Goes on until no timer is set. Throws when that is not so within `limitMs` of simulated time. */
  async runUntilIdle(limitMs: number): Promise<void> {
    const end = this.#monotonicMs + limitMs;
    await nextTurn();
    for (let next = this.#timers.peek(); next !== undefined; next = this.#timers.peek()) {
      if (next.at > end) {
        throw new Error(
          `${this.#timers.size} timers are still set after ${limitMs} ms of simulated time (seed ${this.seed}); ` +
            'stop what sets them, or raise the limit',
        );
      }
      await this.step();
    }
  }

  /** Goes on until `promise` is settled and gives its result. Throws when that is not so within `limitMs`. */
  async run<T>(promise: Promise<T>, limitMs: number): Promise<T> {
    const end = this.#monotonicMs + limitMs;
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await nextTurn();
    for (let idleTurns = 0; !isSettled; ) {
      const next = this.#timers.peek();
      if (next === undefined && idleTurns === turnsBeforeStuck) {
        throw new Error(`the promise is not settled and no timer is set: it waits for ever (seed ${this.seed})`);
      }
      if (next !== undefined && next.at > end) {
        throw new Error(`the promise is not settled after ${limitMs} ms of simulated time (seed ${this.seed})`);
      }
      if (await this.step()) {
        idleTurns = 0;
      } else {
        idleTurns += 1;
        await nextTurn();
      }
    }
    return promise;
  }
}

/**
 * Resolves when every promise that can go on has done so: the engine empties its microtasks before an immediate. A module
 * that is being loaded for the first time counts as one that can go on, so that a process's first run is like all others.
 */
async function nextTurn(): Promise<void> {
  do await new Promise((resolve) => setImmediate(resolve));
  while (process.getActiveResourcesInfo().some((resource) => fileRequests.includes(resource)));
}
