import type { Cancel, World } from '@castellan/world';

const firstRetryMs = 20;
const longestRetryMs = 60_000;

/**
 * The uids that have to be looked at. Each is handled once however often it was added, never by two workers at once,
 * and again after a growing pause while `handle` answers `again` or fails.
 */
export class SuspectQueue {
  readonly #ready = new Set<string>();
  readonly #running = new Set<string>();
  readonly #retries = new Map<string, { readonly failures: number; readonly cancel: Cancel | undefined }>();
  readonly #world: World;
  #wake: () => void = () => undefined;
  #isPaused = true;

  constructor(world: World) {
    this.#world = world;
  }

  add(uids: Iterable<string>): void {
    for (const uid of uids) {
      this.#retries.get(uid)?.cancel?.();
      this.#ready.add(uid);
    }
    this.#wake();
  }

  /** Nothing is handed out before this. */
  open(): void {
    this.#isPaused = false;
    this.#wake();
  }

  /** What waits for its next try waits no longer. */
  retryNow(): void {
    this.add([...this.#retries.keys()]);
  }

  get isIdle(): boolean {
    return this.#ready.size === 0 && this.#running.size === 0;
  }

  /** Hands out uids to `workers` calls of `handle` at once, until `signal` aborts and the running ones have ended. */
  async run(workers: number, handle: (uid: string) => Promise<'done' | 'again'>, signal: AbortSignal): Promise<void> {
    const wakeOnAbort = () => this.#wake();
    signal.addEventListener('abort', wakeOnAbort, { once: true });
    const running = new Set<Promise<void>>();
    while (!signal.aborted) {
      const uid = running.size < workers && !this.#isPaused ? this.#take() : undefined;
      if (uid === undefined) {
        await this.#sleep();
        continue;
      }
      const work = this.#handleOne(uid, handle).finally(() => {
        running.delete(work);
        this.#wake();
      });
      running.add(work);
    }
    signal.removeEventListener('abort', wakeOnAbort);
    for (const { cancel } of this.#retries.values()) cancel?.();
    await Promise.all(running);
  }

  #take(): string | undefined {
    for (const uid of this.#ready) {
      if (this.#running.has(uid)) continue;
      this.#ready.delete(uid);
      this.#running.add(uid);
      return uid;
    }
    return undefined;
  }

  async #handleOne(uid: string, handle: (uid: string) => Promise<'done' | 'again'>): Promise<void> {
    let result: 'done' | 'again' = 'again';
    try {
      result = await handle(uid);
    } finally {
      this.#running.delete(uid);
      if (result === 'done') this.#retries.delete(uid);
      else this.#retryLater(uid);
    }
  }

  #retryLater(uid: string): void {
    const failures = (this.#retries.get(uid)?.failures ?? 0) + 1;
    const delayMs = Math.min(longestRetryMs, firstRetryMs * 2 ** Math.min(failures - 1, 16));
    const cancel = this.#world.clock.after(delayMs, () => {
      this.#ready.add(uid);
      this.#wake();
    });
    this.#retries.set(uid, { failures, cancel });
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }
}
