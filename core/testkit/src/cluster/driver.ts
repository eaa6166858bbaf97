import { DeadlineError, type SimulatedWorld, type World, waitFor } from '@castellan/world';

/** How a cluster's time passes. */
export interface Driver {
  readonly world: World;
  /** Lets time pass until `promise` is settled. */
  run<T>(promise: Promise<T>): Promise<T>;
  advance(ms: number): Promise<void>;
  /** Lets time pass until `condition` gives something other than `undefined` or `false`; `undefined` after `limitMs`. */
  runUntil<T>(
    condition: () => T | undefined | false | Promise<T | undefined | false>,
    limitMs: number,
  ): Promise<T | undefined>;
}

/** Between two looks at a condition when nothing is written. */
const lookEveryMs = 1_000;
/** A single call that takes longer than this will never end. */
const longestCallMs = 10 * 60_000;

/** Time passes only while a test waits for something. */
export class VirtualDriver implements Driver {
  readonly world: SimulatedWorld;
  readonly #revision: () => number;
  /** Calls that a test makes at once are driven together: by the first, and then by whichever is left. */
  #turn: Promise<void> | undefined;

  constructor(world: SimulatedWorld, revision: () => number) {
    this.world = world;
    this.#revision = revision;
  }

  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = promise.then(
      () => {
        isSettled = true;
      },
      () => {
        isSettled = true;
      },
    );
    while (!isSettled) {
      if (this.#turn !== undefined) {
        await Promise.race([this.#turn, settled]);
        continue;
      }
      await this.#drive(() => this.world.run(promise, longestCallMs));
    }
    return await promise;
  }

  async advance(ms: number): Promise<void> {
    await this.#drive(() => this.world.advance(ms));
  }

  async runUntil<T>(
    condition: () => T | undefined | false | Promise<T | undefined | false>,
    limitMs: number,
  ): Promise<T | undefined> {
    const { clock } = this.world;
    const endMs = clock.monotonicNow() + limitMs;
    for (;;) {
      const found = condition();
      const value = found instanceof Promise ? await this.run(found) : found;
      if (value !== undefined && value !== false) return value;
      if (clock.monotonicNow() >= endMs) return undefined;
      await this.#drive(() => this.#untilWrite(Math.min(lookEveryMs, endMs - clock.monotonicNow())));
    }
  }

  /** Lets time pass until something is written, at most `limitMs`. */
  async #untilWrite(limitMs: number): Promise<void> {
    const { clock } = this.world;
    const revision = this.#revision();
    let isOver = false;
    const cancel = clock.after(limitMs, () => {
      isOver = true;
    });
    while (!isOver && this.#revision() === revision) await this.world.step();
    cancel();
  }

  async #drive(pass: () => Promise<unknown>): Promise<void> {
    while (this.#turn !== undefined) await this.#turn;
    const passing = pass();
    this.#turn = passing.then(
      () => {},
      () => {},
    );
    try {
      await passing;
    } finally {
      this.#turn = undefined;
    }
  }
}

/** The same over real time: for comparing, and for programs that cannot be simulated. */
export class RealDriver implements Driver {
  readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  async run<T>(promise: Promise<T>): Promise<T> {
    return await promise;
  }

  async advance(ms: number): Promise<void> {
    await this.world.clock.sleep(ms);
  }

  async runUntil<T>(
    condition: () => T | undefined | false | Promise<T | undefined | false>,
    limitMs: number,
  ): Promise<T | undefined> {
    try {
      return await waitFor(this.world, condition, { what: 'a condition', deadlineMs: limitMs, everyMs: 10 });
    } catch (error) {
      if (error instanceof DeadlineError) return undefined;
      throw error;
    }
  }
}
