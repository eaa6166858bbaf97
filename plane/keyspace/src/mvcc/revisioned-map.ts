import { CompactedError, FutureRevisionError } from '../errors.js';
import type { KeyEvent, KeyRange, KeyValue, RangeOptions, RangeResult, Revision } from '../keyspace.js';
import { OrderedIndex } from './ordered-index.js';

/** A version of a key: what it held, or the revision at which it was deleted. */
type Version = KeyValue | Revision;

interface KeyHistory {
  readonly key: string;
  /** Oldest first; never empty. A deletion never comes first: before it there is what was deleted. */
  versions: Version[];
}

/**
 * The ordered map with its history, and nothing else: no durability, no watchers, no time.
 *
 * Example: put a (revision 2), put a (3), delete a (4), put a (5) makes the history `a: [2, 3, †4, 5]`, so that a read
 * at revision 3 finds the second version and one at 4 finds nothing. `compact(4)` leaves `a: [5]`, `compact(3)`
 * leaves `a: [3, †4, 5]`: what a read at the compacted revision itself needs is kept.
 */
export class RevisionedMap {
  readonly #index = new OrderedIndex<KeyHistory>();
  /** The changes of each revision after `max(1, compactedRevision)`, one element per revision. */
  #changes: (readonly KeyEvent[])[] = [];
  #revision: Revision = 1;
  #compactedRevision = 0;
  #keys = 0;
  #heldBytes = 0;

  get revision(): Revision {
    return this.#revision;
  }

  /** 0 when nothing was compacted yet. */
  get compactedRevision(): Revision {
    return this.#compactedRevision;
  }

  /** How many keys there are now. */
  get keys(): number {
    return this.#keys;
  }

  /** What keys and values of all versions held take, in about the bytes of a log of them. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  get(key: string, revision?: Revision): KeyValue | undefined {
    const history = this.#index.get(key);
    if (revision === undefined) return history && asKeyValue(history.versions.at(-1));
    this.#assertReadable(revision);
    return history && versionAt(history, revision);
  }

  range(range: KeyRange, options: RangeOptions = {}): RangeResult {
    const { revision, limit = 0, countOnly = false } = options;
    if (revision !== undefined) this.#assertReadable(revision);
    const keyValues: KeyValue[] = [];
    let count = 0;
    this.#index.visit(range, (history) => {
      const keyValue = revision === undefined ? asKeyValue(history.versions.at(-1)) : versionAt(history, revision);
      if (keyValue === undefined) return;
      count++;
      if (!countOnly && (limit === 0 || count <= limit)) keyValues.push(keyValue);
    });
    return { revision: this.#revision, keyValues, count };
  }

  /** All changes with revision > `after`, oldest first. */
  changesAfter(after: Revision): readonly (readonly KeyEvent[])[] {
    if (after < this.#compactedRevision) throw new CompactedError(after, this.#compactedRevision);
    return this.#changes.slice(Math.max(0, after - this.#firstHeld));
  }

  /** Makes the changes of the next revision. */
  apply(revision: Revision, events: readonly KeyEvent[]): void {
    if (revision !== this.#revision + 1) throw new Error(`revision ${revision} applied after ${this.#revision}`);
    this.#revision = revision;
    this.#changes.push(events);
    for (const event of events) {
      const history = this.#index.get(event.key);
      if (event.previous === undefined) this.#keys++;
      if (event.keyValue === undefined) this.#keys--;
      this.#heldBytes += sizeOf(event.key, event.keyValue);
      if (history === undefined) this.#index.insert({ key: event.key, versions: [event.keyValue ?? revision] });
      else history.versions.push(event.keyValue ?? revision);
    }
  }

  /** No effect when the revision is compacted already. */
  compact(revision: Revision): void {
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    if (revision <= this.#compactedRevision) return;
    // Only keys that changed since the last compaction have anything to forget.
    const forgotten = this.#changes.splice(0, Math.max(0, revision - this.#firstHeld));
    this.#compactedRevision = revision;
    for (const events of forgotten) {
      for (const event of events) this.#forget(event.key, revision);
    }
  }

  /** Starts the map as a compacted one, whose keys `restoreKey` brings in their order. The map must be new. */
  restore(compactedRevision: Revision): void {
    this.#compactedRevision = compactedRevision;
    this.#revision = Math.max(1, compactedRevision);
  }

  restoreKey(keyValue: KeyValue): void {
    this.#index.insert({ key: keyValue.key, versions: [keyValue] });
    this.#keys++;
    this.#heldBytes += sizeOf(keyValue.key, keyValue);
  }

  /** The revision before the first one whose changes are held. */
  get #firstHeld(): Revision {
    return Math.max(1, this.#compactedRevision);
  }

  #forget(key: string, before: Revision): void {
    const history = this.#index.get(key);
    if (history === undefined) return;
    const { versions } = history;
    let keep = 0;
    while (keep + 1 < versions.length && revisionOf(versions[keep + 1]) <= before) keep++;
    const oldest = versions[keep];
    if (typeof oldest === 'number' && oldest <= before) keep++;
    for (const version of versions.slice(0, keep)) this.#heldBytes -= sizeOf(key, asKeyValue(version));
    if (keep === versions.length) this.#index.remove(key);
    else if (keep > 0) history.versions = versions.slice(keep);
  }

  #assertReadable(revision: Revision): void {
    if (!Number.isSafeInteger(revision) || revision < 1) {
      throw new RangeError(`${revision} is not a revision: leave it out to read the present state`);
    }
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    if (revision < this.#compactedRevision) throw new CompactedError(revision, this.#compactedRevision);
  }
}

function versionAt(history: KeyHistory, revision: Revision): KeyValue | undefined {
  // From the newest on: reads at an old revision are mostly pages of a list that began a moment ago.
  return asKeyValue(history.versions.findLast((version) => revisionOf(version) <= revision));
}

function sizeOf(key: string, keyValue: KeyValue | undefined): number {
  return key.length + (keyValue?.value.length ?? 0);
}

function asKeyValue(version: Version | undefined): KeyValue | undefined {
  return typeof version === 'number' ? undefined : version;
}

function revisionOf(version: Version | undefined): Revision {
  if (version === undefined) return Number.POSITIVE_INFINITY;
  return typeof version === 'number' ? version : version.modRevision;
}
