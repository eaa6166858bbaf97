import type { Revision } from '@castellan/keyspace';
import type { CacheEvent } from './cache-event.js';

/** kube-apiserver's watch caches hold at least 75 s of events; so do we, within these bounds. */
const minAgeMs = 75_000;
const minEvents = 100;
const maxEvents = 20_000;

/**
 * The latest events of one resource, without gap, each with a sequence number. A watcher holds the number of the next
 * event it wants, not a queue of its own: so a slow watcher costs nothing and is cut off when its event is dropped here.
 */
export class EventWindow {
  private events: { readonly event: CacheEvent; readonly seenAtMs: number }[] = [];
  private firstSequence = 0;
  private startRevision: Revision;

  /** Holds every event after `start`. */
  constructor(start: Revision) {
    this.startRevision = start;
  }

  get start(): Revision {
    return this.startRevision;
  }

  /** The sequence number that the next event will have. */
  get end(): number {
    return this.firstSequence + this.events.length;
  }

  reaches(revision: Revision): boolean {
    return revision >= this.startRevision;
  }

  /** `undefined`: none yet, or dropped already (`sequence` < the first one held: `isDropped`). */
  at(sequence: number): CacheEvent | undefined {
    return this.events[sequence - this.firstSequence]?.event;
  }

  isDropped(sequence: number): boolean {
    return sequence < this.firstSequence;
  }

  /** The sequence number of the first event after `revision`. */
  firstAfter(revision: Revision): number {
    let low = 0;
    let high = this.events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.events[middle]?.event.revision ?? 0) <= revision) low = middle + 1;
      else high = middle;
    }
    return this.firstSequence + low;
  }

  append(event: CacheEvent, nowMs: number): void {
    this.events.push({ event, seenAtMs: nowMs });
    // Dropping a quarter at once keeps the cost of moving the rest small.
    if (this.events.length <= maxEvents && this.events.length % 64 !== 0) return;
    const expired = this.events.findIndex(({ seenAtMs }) => nowMs - seenAtMs < minAgeMs);
    const aged = Math.min(expired < 0 ? this.events.length : expired, this.events.length - minEvents);
    const excess = this.events.length > maxEvents ? maxEvents / 4 : 0;
    this.dropFirst(Math.max(aged, excess, 0));
  }

  /** Older events than those held: all after `start` up to where this window began. */
  prepend(start: Revision, events: readonly CacheEvent[], nowMs: number): void {
    if (events.length + this.events.length > maxEvents) return;
    const seenAtMs = this.events[0]?.seenAtMs ?? nowMs;
    this.events = [...events.map((event) => ({ event, seenAtMs })), ...this.events];
    this.firstSequence -= events.length;
    this.startRevision = start;
  }

  private dropFirst(number: number): void {
    if (number === 0) return;
    const last = this.events[number - 1];
    if (last !== undefined) this.startRevision = last.event.revision;
    this.events = this.events.slice(number);
    this.firstSequence += number;
  }
}
