import type { KeyRange } from '@castellan/keyspace';
import type { ApiObject } from '../json.js';
import type { CacheEntry } from './cache-event.js';

/**
 * Objects by key, listed in key order. Keys are ASCII, so JavaScript's order of strings is etcd's order of bytes.
 * An insert moves the keys after it: for the tens of thousands that one resource has, cheaper than a tree.
 */
export class OrderedEntries {
  private readonly objects = new Map<string, ApiObject>();
  private readonly keys: string[] = [];

  get(key: string): ApiObject | undefined {
    return this.objects.get(key);
  }

  set(key: string, object: ApiObject): void {
    if (!this.objects.has(key)) {
      const last = this.keys.at(-1);
      if (last === undefined || last < key) this.keys.push(key);
      else this.keys.splice(this.firstAtOrAfter(key), 0, key);
    }
    this.objects.set(key, object);
  }

  delete(key: string): void {
    if (this.objects.delete(key)) this.keys.splice(this.firstAtOrAfter(key), 1);
  }

  /** Entries in [start, end) whose key is greater than `after`. */
  within(range: KeyRange, after: string): readonly CacheEntry[] {
    const entries: CacheEntry[] = [];
    const end = range.end ?? '';
    const from = after > range.start ? after : range.start;
    for (let index = this.firstAtOrAfter(from); index < this.keys.length; index += 1) {
      const key = this.keys[index];
      if (key === undefined || key >= end) break;
      const object = this.objects.get(key);
      if (object !== undefined && key > after) entries.push({ key, object });
    }
    return entries;
  }

  private firstAtOrAfter(key: string): number {
    let low = 0;
    let high = this.keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
