import type { KeyRange } from '@castellan/keyspace';
import type { ApiObject } from '../json.js';
import type { CacheEntry } from './cache-event.js';

/**
 * Objects by key, listed in key order. Keys are ASCII, so JavaScript's order of strings is etcd's order of bytes.
 * An insert moves the entries after it: for the tens of thousands that one resource has, cheaper than a tree. Entries are
 * never changed, only replaced, so that a list is a copy of a part and stays what it was.
 */
export class OrderedEntries {
  private readonly byKey = new Map<string, CacheEntry>();
  private readonly inOrder: CacheEntry[] = [];

  get(key: string): ApiObject | undefined {
    return this.byKey.get(key)?.object;
  }

  set(key: string, object: ApiObject): void {
    const entry = { key, object };
    const last = this.inOrder.at(-1);
    if (last === undefined || last.key < key) this.inOrder.push(entry);
    else this.inOrder.splice(this.firstAtOrAfter(key), this.byKey.has(key) ? 1 : 0, entry);
    this.byKey.set(key, entry);
  }

  delete(key: string): void {
    if (this.byKey.delete(key)) this.inOrder.splice(this.firstAtOrAfter(key), 1);
  }

  /** Entries in [start, end) whose key is greater than `after`. */
  within(range: KeyRange, after: string): readonly CacheEntry[] {
    const from = this.firstAtOrAfter(after > range.start ? after : range.start);
    const isAfterItself = this.inOrder[from]?.key === after;
    return this.inOrder.slice(isAfterItself ? from + 1 : from, this.firstAtOrAfter(range.end ?? ''));
  }

  private firstAtOrAfter(key: string): number {
    let low = 0;
    let high = this.inOrder.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.inOrder[middle]?.key ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
