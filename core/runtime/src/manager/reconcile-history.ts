import { changedFields } from '../controller/changed-fields.js';
import type { SeenChange } from '../controller/hot-loop.js';

/** What is remembered of a key: why it was reconciled last, what that did, and how it ended. */
export interface KeyStatus {
  readonly key: string;
  /** "pods default/etcd-0 was updated", "5000 ms after the last time", "retry 3 after a failure". */
  readonly trigger: string;
  /** What the change that triggered it changed: `status.conditions[0].status`. Of the first one, where there were several. */
  readonly changed: readonly string[];
  readonly outcome: 'running' | 'done' | 'failed' | 'terminal';
  /** Milliseconds since the Unix epoch, when it began. */
  readonly at: number;
  /** How far the cache of the controller's own kind had come by then. */
  readonly cacheRevision: string;
  readonly tookMs?: number;
  /** "created Pod default/a", "updated Pod default/a: metadata.labels.role"; 20 at most. */
  readonly writes: readonly string[];
  /** What was decided, in a sentence: why it waits, what a person has to do, or that all is well. */
  readonly decision?: { readonly kind: string; readonly reason: string; readonly remedy?: string };
  /** Looked at again so much later, if nothing changes before. */
  readonly requeueAfterMs?: number;
  readonly error?: string;
  /** In a row. */
  readonly failures: number;
}

export interface TakenTrigger {
  readonly cause: string;
  readonly changed: readonly string[];
}

const mostKeys = 10_000;
const mostChanged = 5;

/** Answers "why did this reconcile?" for the keys reconciled last. */
export class ReconcileHistory {
  readonly #triggers = new Map<string, { readonly cause: string; readonly change?: SeenChange }>();
  readonly #keys = new Map<string, KeyStatus>();

  /** Only the first cause of a run is kept: the run is for all of them. */
  trigger(key: string, cause: string, change?: SeenChange): void {
    if (!this.#triggers.has(key)) this.#triggers.set(key, { cause, ...(change !== undefined && { change }) });
  }

  takeTrigger(key: string): TakenTrigger {
    const { cause, change } = this.#triggers.get(key) ?? { cause: 'changed while it was reconciled' };
    this.#triggers.delete(key);
    const { before, after } = change ?? {};
    const fields = before === undefined || after === undefined ? [] : changedFields(before, after);
    return { cause, changed: fields.slice(0, mostChanged).map(({ path }) => path) };
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
