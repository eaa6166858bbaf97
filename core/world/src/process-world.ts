import { sleepWith } from './sleep.js';
import type { Clock, Random, World } from './world.js';

/**
 * The world as one process of a simulation sees it. `kill` ends the process as SIGKILL does: none of its timers fires any
 * more, and what it awaited never comes. Its wall clock may differ from that of the others; the rest is shared with them.
 */
export class ProcessWorld implements World {
  readonly clock: Clock;
  readonly random: Random;
  #isDead = false;
  #wallOffsetMs = 0;

  constructor(shared: World) {
    this.random = shared.random;
    const after: Clock['after'] = (delayMs, callback) =>
      shared.clock.after(delayMs, () => {
        if (!this.#isDead) callback();
      });
    this.clock = {
      now: () => shared.clock.now() + this.#wallOffsetMs,
      monotonicNow: () => shared.clock.monotonicNow(),
      after,
      sleep: (delayMs, signal) => sleepWith(after, delayMs, signal),
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    this.#isDead = true;
  }

  /** Sets this process's wall clock forward, or back; its timers do not notice. */
  jumpWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}
