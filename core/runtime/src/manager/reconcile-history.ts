/** What is remembered of a key: why it was reconciled last, and how that ended. */
export interface KeyStatus {
  readonly key: string;
  /** "pods default/etcd-0 was updated", "5000 ms after the last time", "retry 3 after a failure". */
  readonly trigger: string;
  readonly outcome: 'running' | 'done' | 'failed' | 'terminal';
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly tookMs?: number;
  readonly error?: string;
  readonly failures: number;
}

const mostKeys = 10_000;

/** Answers "why did this reconcile?" for the keys reconciled last. */
export class ReconcileHistory {
  readonly #triggers = new Map<string, string>();
  readonly #keys = new Map<string, KeyStatus>();

  /** Only the first cause of a run is kept: the run is for all of them. */
  trigger(key: string, cause: string): void {
    if (!this.#triggers.has(key)) this.#triggers.set(key, cause);
  }

  takeTrigger(key: string): string {
    const cause = this.#triggers.get(key) ?? 'changed while it was reconciled';
    this.#triggers.delete(key);
    return cause;
  }

  set(status: KeyStatus): void {
    this.#keys.delete(status.key);
    this.#keys.set(status.key, status);
    if (this.#keys.size <= mostKeys) return;
    const oldest = this.#keys.keys().next();
    if (oldest.done !== true) this.#keys.delete(oldest.value);
  }

  /** The object is gone and there is nothing more to say about it. */
  forget(key: string): void {
    this.#keys.delete(key);
  }

  get(key: string): KeyStatus | undefined {
    return this.#keys.get(key);
  }

  all(): readonly KeyStatus[] {
    return [...this.#keys.values()];
  }
}
