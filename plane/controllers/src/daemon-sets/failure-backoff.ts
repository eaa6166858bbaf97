import type { Clock } from '@castellan/world';

const firstMs = 1_000;
const longestMs = 15 * 60_000;

interface Failure {
  readonly waitMs: number;
  readonly atMs: number;
}

/**
 * How long a node waits until its failed pod is replaced: 1 s after the first, twice as long after each one more, 15 min at
 * most; as new when none has failed for twice the longest wait. Source: the back-off of upstream's daemonset controller.
 */
export class FailureBackoff {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How long until the failure of `key` may be dealt with; 0 when it may now, which counts as one more. */
  take(key: string): number {
    const nowMs = this.#clock.monotonicNow();
    const last = this.#failures.get(key);
    const leftMs = last === undefined ? 0 : last.atMs + last.waitMs - nowMs;
    if (leftMs > 0) return leftMs;
    for (const [other, { atMs }] of this.#failures) {
      if (nowMs - atMs > 2 * longestMs) this.#failures.delete(other);
    }
    const before = this.#failures.get(key);
    const waitMs = before === undefined ? firstMs : Math.min(before.waitMs * 2, longestMs);
    this.#failures.set(key, { waitMs, atMs: nowMs });
    return 0;
  }
}
