import type { KubernetesObject } from '@castellan/machinery';
import type { Cancel, Clock } from '@castellan/world';
import { type Deferred, deferred } from '../deferred.js';
import type { Change, ChangeHandler } from './change.js';
import { PendingChanges } from './pending-changes.js';

export interface HandlerOptions {
  /** Every so often the handler is told of all that is held, as updates that change nothing; never when absent. */
  readonly resyncMs?: number;
}

/** One handler of an informer. */
export interface HandlerRegistration {
  /** The handler is done with the first list. */
  readonly isSynced: boolean;
  /** Rejects when the informer stops before. */
  whenSynced(): Promise<void>;
  /** The handler is not called any more. To do it twice is harmless. */
  remove(): void;
}

/** Gives changes to one handler, one after the other, and keeps what the handler does from everybody else. */
export class RegisteredHandler<T extends KubernetesObject> implements HandlerRegistration {
  readonly #handler: ChangeHandler<T>;
  readonly #onProblem: (error: unknown) => void;
  readonly #onRemove: (handler: RegisteredHandler<T>) => void;
  readonly #pending = new PendingChanges<T>();
  readonly #synced: Deferred = deferred();
  #isBusy = false;
  #isListGiven = false;
  #isRemoved = false;
  #isSynced = false;
  #cancelResync: Cancel = () => undefined;

  constructor(
    handler: ChangeHandler<T>,
    onProblem: (error: unknown) => void,
    onRemove: (handler: RegisteredHandler<T>) => void,
  ) {
    this.#handler = handler;
    this.#onProblem = onProblem;
    this.#onRemove = onRemove;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  whenSynced(): Promise<void> {
    return this.#synced.promise;
  }

  tell(change: Change<T>): void {
    if (this.#isBusy) this.#pending.add(change);
    else this.#call(change);
  }

  /** The first list was told. */
  listGiven(): void {
    this.#isListGiven = true;
    this.#settle();
  }

  resyncEvery(resyncMs: number, clock: Clock, all: () => Iterable<T>): void {
    this.#cancelResync = clock.after(resyncMs, () => {
      for (const object of [...all()]) this.tell({ kind: 'updated', object, previous: object });
      if (!this.#isRemoved) this.resyncEvery(resyncMs, clock, all);
    });
  }

  remove(): void {
    this.stop(new Error('the handler was removed'));
    this.#onRemove(this);
  }

  stop(reason: Error): void {
    this.#isRemoved = true;
    this.#cancelResync();
    this.#pending.clear();
    this.#synced.reject(reason);
  }

  #call(change: Change<T>): void {
    if (this.#isRemoved) return;
    try {
      const result = this.#handler(change);
      if (result instanceof Promise) void this.#finish(result);
    } catch (error) {
      this.#onProblem(error);
    }
  }

  async #finish(result: Promise<unknown>): Promise<void> {
    this.#isBusy = true;
    try {
      await result;
    } catch (error) {
      this.#onProblem(error);
    }
    this.#isBusy = false;
    for (let next = this.#pending.take(); next !== undefined; next = this.#isBusy ? undefined : this.#pending.take()) {
      this.#call(next);
    }
    this.#settle();
  }

  #settle(): void {
    if (!this.#isListGiven || this.#isBusy || !this.#pending.isEmpty) return;
    this.#isSynced = true;
    this.#synced.resolve();
  }
}
