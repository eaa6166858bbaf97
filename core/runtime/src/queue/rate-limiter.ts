import type { Clock, Random } from '@castellan/world';

/** How long a key that failed waits before it is tried again. */
export interface RateLimiter {
  /** Counts a failure of `key` and gives its wait in ms. */
  next(key: string): number;
  /** Failures since the key was forgotten last. */
  failures(key: string): number;
  /** `key` succeeded: its next failure is its first. */
  forget(key: string): void;
}

export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
  /**
   * With it, waits of a second and more are shortened by up to a half, by chance: keys that failed at one time, because
   * the server was away, do not all come back at one time. Without it waits are exact.
   */
  readonly random?: Random;
}

const jitterFromMs = 1_000;

/** Waits that double with each failure of a key, up to a cap. Keys do not affect each other. */
export class KeyedBackoff implements RateLimiter {
  readonly #options: BackoffOptions;
  readonly #failures = new Map<string, number>();

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  next(key: string): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    const { baseMs, capMs, random } = this.#options;
    // 2 ** 1024 is Infinity, which the cap bounds as well.
    const waitMs = Math.min(baseMs * 2 ** failures, capMs);
    return random === undefined || waitMs < jitterFromMs ? waitMs : waitMs * (1 - random.next() / 2);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}

export interface BucketOptions {
  readonly clock: Clock;
  readonly perSecond: number;
  /** So many at once, after a quiet time. */
  readonly burst: number;
}

/**
 * So many tries per second for all keys together: a bucket of `burst` tokens that fills at `perSecond`. A token may be
 * taken before it is there; then its key waits for it.
 */
export class BucketLimiter implements RateLimiter {
  readonly #options: BucketOptions;
  /** Below zero it is owed. */
  #tokens: number;
  #atMs: number;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#tokens = options.burst;
    this.#atMs = options.clock.monotonicNow();
  }

  next(): number {
    const { clock, perSecond, burst } = this.#options;
    const nowMs = clock.monotonicNow();
    const filled = this.#tokens + ((nowMs - this.#atMs) * perSecond) / 1_000;
    this.#tokens = Math.min(burst, filled) - 1;
    this.#atMs = nowMs;
    return Math.max(0, (-this.#tokens * 1_000) / perSecond);
  }

  failures(): number {
    return 0;
  }

  forget(): void {
    // A token that was taken is gone, however the try ended.
  }
}

/** Asks all of `limiters`, and waits as long as the one that wants the longest wait. */
export function longestOf(...limiters: readonly RateLimiter[]): RateLimiter {
  return {
    next: (key) => Math.max(...limiters.map((limiter) => limiter.next(key))),
    failures: (key) => Math.max(...limiters.map((limiter) => limiter.failures(key))),
    forget(key) {
      for (const limiter of limiters) limiter.forget(key);
    },
  };
}
