import type { KeyEvent, Revision } from '../keyspace.js';

const maxEvents = 2_000;
const maxBytes = 16 * 1024 * 1024;

/** The latest changes of the keyspace, so that a watch from the near past needs no stream of its own. */
export class RecentChanges {
  #start: Revision;
  #changes: { readonly event: KeyEvent; readonly bytes: number }[] = [];
  #bytes = 0;

  constructor(start: Revision) {
    this.#start = start;
  }

  /** Every change after this revision is here. */
  get start(): Revision {
    return this.#start;
  }

  append(events: readonly KeyEvent[]): void {
    for (const event of events) {
      const bytes = (event.keyValue?.value.length ?? 0) + (event.previous?.value.length ?? 0);
      this.#changes.push({ event, bytes });
      this.#bytes += bytes;
    }
    if (this.#changes.length > maxEvents || this.#bytes > maxBytes) this.#dropOldest();
  }

  /** Those after `revision`, which is not before `start`. */
  after(revision: Revision): readonly KeyEvent[] {
    return this.#changes.filter(({ event }) => event.revision > revision).map(({ event }) => event);
  }

  /** Down to half of what may be held, so that dropping is rare; whole revisions. */
  #dropOldest(): void {
    let first = 0;
    let bytes = this.#bytes;
    for (; this.#changes.length - first > maxEvents / 2 || bytes > maxBytes / 2; first += 1) {
      bytes -= this.#changes[first]?.bytes ?? 0;
    }
    this.#start = this.#changes[first - 1]?.event.revision ?? this.#start;
    this.#changes = this.#changes.slice(first).filter(({ event }) => event.revision > this.#start);
    this.#bytes = this.#changes.reduce((sum, change) => sum + change.bytes, 0);
  }
}
