export interface BackoffOptions {
  readonly baseMs: number;
  readonly capMs: number;
}

/** How long to wait before a key is tried again: doubles with each failure of that key, up to a cap. */
export class KeyedBackoff {
  readonly #options: BackoffOptions;
  readonly #failures = new Map<string, number>();

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Counts a failure and gives the wait in ms. */
  next(key: string): number {
    const failures = this.failures(key);
    this.#failures.set(key, failures + 1);
    // 2 ** 1024 is Infinity, which the cap bounds as well.
    return Math.min(this.#options.baseMs * 2 ** failures, this.#options.capMs);
  }

  failures(key: string): number {
    return this.#failures.get(key) ?? 0;
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}
