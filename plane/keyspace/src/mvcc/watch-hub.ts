import type { KeyEvent, KeyRange, Revision, Watch, Watcher } from '../keyspace.js';
import { isInRange } from './key-order.js';

/**
 * Hands changes to watchers: at once, in order, never part of a revision. A watcher that throws is ended with what it
 * threw; it harms nobody else. A watcher may write, watch and cancel from within its callbacks.
 */
export class WatchHub {
  readonly #subscriptions = new Set<Subscription>();
  readonly #published: Batch[] = [];
  #isPublishing = false;

  /** Opens a watch of what follows `after`; `missed` is what of that has happened, and is handed over now. */
  open(range: KeyRange, after: Revision, watcher: Watcher, missed: Batch): Watch {
    const subscription = new Subscription(range, after, watcher, () => this.#subscriptions.delete(subscription));
    this.#subscriptions.add(subscription);
    subscription.handOver(missed);
    return { cancel: () => subscription.stop() };
  }

  publish(batch: Batch): void {
    this.#published.push(batch);
    // A watcher that writes gets here again: its change waits until all watchers have this one.
    if (this.#isPublishing) return;
    this.#isPublishing = true;
    for (let next = this.#published.shift(); next !== undefined; next = this.#published.shift()) {
      for (const subscription of this.#subscriptions) subscription.handOver(next);
    }
    this.#isPublishing = false;
  }

  endAll(error?: Error): void {
    for (const subscription of [...this.#subscriptions]) subscription.end(error);
  }
}

/** All changes after the batch before it, up to `revision`. */
interface Batch {
  readonly events: readonly KeyEvent[];
  readonly revision: Revision;
}

class Subscription {
  readonly #range: KeyRange;
  readonly #watcher: Watcher;
  readonly #onStop: () => void;
  #isStopped = false;
  /** All changes up to here were handed over. */
  #position: Revision;

  constructor(range: KeyRange, after: Revision, watcher: Watcher, onStop: () => void) {
    this.#range = range;
    this.#position = after;
    this.#watcher = watcher;
    this.#onStop = onStop;
  }

  handOver({ events, revision }: Batch): void {
    // A watch opened while a batch is being published was given that batch already.
    if (this.#isStopped || revision <= this.#position) return;
    const position = this.#position;
    this.#position = revision;
    const wanted = events.filter((event) => event.revision > position && isInRange(this.#range, event.key));
    try {
      if (wanted.length > 0) this.#watcher.onEvents(wanted);
      if (!this.#isStopped) this.#watcher.onProgress?.(revision);
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(`a watcher threw ${String(error)}`));
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#onStop();
  }

  end(error?: Error): void {
    if (this.#isStopped) return;
    this.stop();
    try {
      this.#watcher.onEnd(error);
    } catch {
      // It was told that it ended; there is nobody else to tell what it threw at that.
    }
  }
}
