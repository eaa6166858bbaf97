import type { Cancel, Clock } from '@castellan/world';
import { DelayHeap } from './delay-heap.js';
import { BucketLimiter, KeyedBackoff, longestOf, type RateLimiter } from './rate-limiter.js';
import { type Place, ReadyKeys } from './ready-keys.js';

export interface WorkQueueOptions {
  readonly clock: Clock;
  /** For `retry`. As in controller-runtime by default: 5 ms to 1000 s per key, 10 a second in all after the first 100. */
  readonly limiter?: RateLimiter;
  /** How long keys of higher priority may keep a key waiting; 10 s by default. */
  readonly maxWaitMs?: number;
  readonly observer?: QueueObserver;
}

/** Told of every step, for metrics. Must not throw. */
export interface QueueObserver {
  onAdd?(priority: number): void;
  onTake?(waitedMs: number, priority: number): void;
  onDone?(ranMs: number): void;
  onRetry?(): void;
  onClose?(): void;
}

/**
 * Keys to work on, each at most once at a time. A key has at most one run ahead of it, however often it is added: at the
 * earliest of the times that were asked for. A key that is added while a worker has it runs once more when that worker is
 * done. SPEC.md numbers what this promises.
 *
 *     for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
 *       try { await work(key); queue.forget(key); } catch { queue.retry(key); }
 *       queue.done(key);
 *     }
 */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #observer: QueueObserver;
  readonly #limiter: RateLimiter;
  readonly #entries = new Map<string, Entry>();
  readonly #ready: ReadyKeys<EntryPlace>;
  readonly #delays = new DelayHeap();
  readonly #takers: ((key: string | undefined) => void)[] = [];
  readonly #drainers: (() => void)[] = [];
  #state: 'open' | 'draining' | 'closed' = 'open';
  #readyCount = 0;
  #runningCount = 0;
  #delayedCount = 0;
  #sequence = 0;
  #timer: { readonly dueMs: number; readonly cancel: Cancel } | undefined;

  constructor(options: WorkQueueOptions) {
    this.#clock = options.clock;
    this.#observer = options.observer ?? {};
    this.#limiter = options.limiter ?? defaultLimiter(options.clock);
    this.#ready = new ReadyKeys(options.maxWaitMs ?? 10_000);
  }

  /** Keys that could be given out now. */
  get length(): number {
    return this.#readyCount;
  }

  get runningCount(): number {
    return this.#runningCount;
  }

  get delayedCount(): number {
    return this.#delayedCount;
  }

  /**
   * For how long keys have been with their workers, in ms: of all together and of the longest. What workqueue metrics
   * call unfinished work and longest running processor.
   */
  unfinished(): { readonly totalMs: number; readonly longestMs: number } {
    const nowMs = this.#clock.monotonicNow();
    let totalMs = 0;
    let longestMs = 0;
    for (const { isRunning, takenAtMs } of this.#runningCount === 0 ? [] : this.#entries.values()) {
      if (!isRunning) continue;
      totalMs += nowMs - takenAtMs;
      longestMs = Math.max(longestMs, nowMs - takenAtMs);
    }
    return { totalMs, longestMs };
  }

  /** Keys and times that take memory. */
  get heldCount(): number {
    return this.#entries.size + this.#delays.size;
  }

  /** Has `key` run as soon as may be. Adding a key that is waiting raises its priority, and never lowers it. */
  add(key: string, priority = 0): void {
    if (this.#state !== 'open') return;
    this.#observer.onAdd?.(priority);
    const entry = this.#entryOf(key, priority);
    if (entry.pending === 'ready') {
      if (priority <= entry.priority) return;
      entry.priority = priority;
      if (entry.place !== undefined) {
        entry.place.isVoid = true;
        this.#stand(entry);
      }
      return;
    }
    if (entry.pending === 'delayed') this.#delayedCount -= 1;
    entry.priority = entry.pending === 'delayed' ? Math.max(priority, entry.priority) : priority;
    this.#becomesReady(entry);
  }

  /** Has `key` run after `delayMs`, unless it is to run earlier than that anyway. */
  addAfter(key: string, delayMs: number, priority = 0): void {
    if (!(delayMs > 0)) {
      this.add(key, priority);
      return;
    }
    if (this.#state !== 'open') return;
    const dueMs = this.#clock.monotonicNow() + delayMs;
    const entry = this.#entryOf(key, priority);
    if (entry.pending === 'ready') return;
    if (entry.pending === 'delayed') {
      entry.priority = Math.max(priority, entry.priority);
      if (entry.pendingMs <= dueMs) return;
    } else {
      entry.priority = priority;
      this.#delayedCount += 1;
    }
    entry.pending = 'delayed';
    entry.pendingMs = dueMs;
    this.#sequence += 1;
    this.#delays.push({ key, dueMs, sequence: this.#sequence });
    this.#dropStaleDelays();
    this.#setTimer();
  }

  /** The priority at which a key that is here runs next or, while a worker has it, was given out. */
  priorityOf(key: string): number {
    return this.#entries.get(key)?.priority ?? 0;
  }

  /** Counts a failure of `key` and has it run after its backoff, at the priority it had unless told otherwise. */
  retry(key: string, priority = this.priorityOf(key)): void {
    if (this.#state !== 'open') return;
    this.#observer.onRetry?.();
    this.addAfter(key, this.#limiter.next(key), priority);
  }

  /** `key` succeeded: its next failure is its first. */
  forget(key: string): void {
    this.#limiter.forget(key);
  }

  failures(key: string): number {
    return this.#limiter.failures(key);
  }

  /** The next key, when there is one; `undefined` when the queue is closed. Every key taken must be `done`. */
  take(): Promise<string | undefined> {
    if (this.#state === 'closed') return Promise.resolve(undefined);
    const key = this.#giveOut();
    if (key !== undefined) return Promise.resolve(key);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  done(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || !entry.isRunning) return;
    entry.isRunning = false;
    this.#runningCount -= 1;
    this.#observer.onDone?.(this.#clock.monotonicNow() - entry.takenAtMs);
    if (entry.pending === 'ready') this.#offer(entry);
    else if (entry.pending === 'none') this.#entries.delete(key);
    this.#endDrain();
  }

  /** Takes no more keys and drops delayed ones; resolves when all that wait, run or are to run once more are done. */
  drain(): Promise<void> {
    if (this.#state === 'open') {
      this.#state = 'draining';
      this.#forgetDelays();
    }
    if (this.#state === 'closed') return Promise.resolve();
    return new Promise((resolve) => {
      this.#drainers.push(resolve);
      this.#endDrain();
    });
  }

  /** Gives out nothing more and wakes whoever waits; cuts a drain short. Keys that run may still be `done`. */
  close(): void {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    this.#forgetDelays();
    this.#readyCount = 0;
    this.#observer.onClose?.();
    for (const wake of this.#takers.splice(0)) wake(undefined);
    for (const wake of this.#drainers.splice(0)) wake();
  }

  #entryOf(key: string, priority: number): Entry {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = new Entry(key, priority);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #becomesReady(entry: Entry): void {
    entry.pending = 'ready';
    entry.pendingMs = this.#clock.monotonicNow();
    if (!entry.isRunning) this.#offer(entry);
  }

  #offer(entry: Entry): void {
    if (this.#state === 'closed') return;
    this.#stand(entry);
    this.#readyCount += 1;
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.#giveOut());
  }

  #stand(entry: Entry): void {
    entry.place = new EntryPlace(entry);
    this.#ready.push(entry.place, entry.priority);
  }

  #giveOut(): string | undefined {
    const nowMs = this.#clock.monotonicNow();
    const entry = this.#ready.shift(nowMs)?.entry;
    if (entry === undefined) return undefined;
    entry.place = undefined;
    entry.pending = 'none';
    entry.isRunning = true;
    entry.takenAtMs = nowMs;
    this.#readyCount -= 1;
    this.#runningCount += 1;
    this.#observer.onTake?.(nowMs - entry.pendingMs, entry.priority);
    return entry.key;
  }

  #endDrain(): void {
    if (this.#state === 'draining' && this.#readyCount === 0 && this.#runningCount === 0) this.close();
  }

  #setTimer(): void {
    const dueMs = this.#delays.peek()?.dueMs;
    if (dueMs === undefined || (this.#timer !== undefined && this.#timer.dueMs <= dueMs)) return;
    this.#timer?.cancel();
    const delayMs = Math.max(0, dueMs - this.#clock.monotonicNow());
    this.#timer = { dueMs, cancel: this.#clock.after(delayMs, () => this.#onTimer()) };
  }

  #onTimer(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicNow();
    for (let next = this.#delays.peek(); next !== undefined && next.dueMs <= nowMs; next = this.#delays.peek()) {
      this.#delays.pop();
      const entry = this.#entries.get(next.key);
      if (entry?.pending !== 'delayed' || entry.pendingMs !== next.dueMs) continue;
      this.#delayedCount -= 1;
      this.#becomesReady(entry);
    }
    this.#setTimer();
  }

  /** Keys that were made to run earlier leave their later times in the heap; they must not add up. */
  #dropStaleDelays(): void {
    if (this.#delays.size <= 2 * this.#delayedCount + 64) return;
    this.#delays.retain(({ key, dueMs }) => {
      const entry = this.#entries.get(key);
      return entry?.pending === 'delayed' && entry.pendingMs === dueMs;
    });
  }

  #forgetDelays(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#delays.retain(() => false);
    this.#delayedCount = 0;
    for (const [key, entry] of this.#entries) {
      if (entry.pending !== 'delayed') continue;
      entry.pending = 'none';
      if (!entry.isRunning) this.#entries.delete(key);
    }
  }
}

function defaultLimiter(clock: Clock): RateLimiter {
  return longestOf(
    new KeyedBackoff({ baseMs: 5, capMs: 1_000_000 }),
    new BucketLimiter({ clock, perSecond: 10, burst: 100 }),
  );
}

/** What is known of one key. There may be a hundred thousand of them: each field counts. */
class Entry {
  readonly key: string;
  priority: number;
  pending: 'none' | 'ready' | 'delayed' = 'none';
  isRunning = false;
  /** When it is due while it is delayed; since when it is ready while it is that. */
  pendingMs = 0;
  takenAtMs = 0;
  /** Where it stands in line; none while a worker has it. */
  place: EntryPlace | undefined;

  constructor(key: string, priority: number) {
    this.key = key;
    this.priority = priority;
  }
}

class EntryPlace implements Place {
  readonly entry: Entry;
  isVoid = false;

  constructor(entry: Entry) {
    this.entry = entry;
  }

  get readyAtMs(): number {
    return this.entry.pendingMs;
  }
}
