import type { KeyRange } from '../keyspace.js';
import { compareKeys, UNBOUNDED_END } from './key-order.js';

const LEAF_CAPACITY = 128;

/**
 * Entries by key, and in the byte order of their keys. Two levels: a list of sorted leaves. A lookup is a hash lookup;
 * an insertion moves at most one leaf and one list of leaves, which up to some millions of keys is a short memory move.
 */
export class OrderedIndex<Entry extends { readonly key: string }> {
  readonly #entries = new Map<string, Entry>();
  readonly #leaves: Entry[][] = [];

  get(key: string): Entry | undefined {
    return this.#entries.get(key);
  }

  /** The entry's key must not be present. */
  insert(entry: Entry): void {
    this.#entries.set(entry.key, entry);
    const leafIndex = this.#leafOf(entry.key);
    const leaf = this.#leaves[leafIndex];
    if (leaf === undefined) {
      this.#leaves.push([entry]);
      return;
    }
    const position = lowerBound(leaf, entry.key);
    if (leaf.length < LEAF_CAPACITY) {
      leaf.splice(position, 0, entry);
    } else if (position === leaf.length) {
      // Keys that arrive in order (a snapshot, a counter in the name) fill their leaves instead of leaving halves.
      this.#leaves.splice(leafIndex + 1, 0, [entry]);
    } else {
      leaf.splice(position, 0, entry);
      this.#leaves.splice(leafIndex + 1, 0, leaf.splice(LEAF_CAPACITY / 2));
    }
  }

  remove(key: string): void {
    if (!this.#entries.delete(key)) return;
    const leafIndex = this.#leafOf(key);
    const leaf = this.#leaves[leafIndex];
    if (leaf === undefined) return;
    leaf.splice(lowerBound(leaf, key), 1);
    if (leaf.length === 0) this.#leaves.splice(leafIndex, 1);
  }

  /** Calls `visit` for each entry of the range, in order. The index must not be changed meanwhile. */
  visit(range: KeyRange, visit: (entry: Entry) => void): void {
    if (range.end === undefined) {
      const entry = this.#entries.get(range.start);
      if (entry !== undefined) visit(entry);
      return;
    }
    for (let leafIndex = this.#leafOf(range.start); ; leafIndex++) {
      const leaf = this.#leaves[leafIndex];
      const last = leaf?.at(-1);
      if (leaf === undefined || last === undefined) return;
      // Whole leaves are taken without comparing each key: a list of a large prefix compares twice per leaf.
      const from = lowerBound(leaf, range.start);
      const isLastInside = range.end === UNBOUNDED_END || compareKeys(last.key, range.end) < 0;
      const to = isLastInside ? leaf.length : lowerBound(leaf, range.end);
      for (let position = from; position < to; position++) {
        const entry = leaf[position];
        if (entry !== undefined) visit(entry);
      }
      if (!isLastInside) return;
    }
  }

  /** The last leaf whose first key is not above `key`; the first leaf when there is none. */
  #leafOf(key: string): number {
    let low = 0;
    let high = this.#leaves.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      const first = this.#leaves[middle]?.[0];
      if (first !== undefined && compareKeys(first.key, key) <= 0) low = middle;
      else high = middle;
    }
    return low;
  }
}

/** The first position whose key is not below `key`. */
function lowerBound(leaf: readonly { readonly key: string }[], key: string): number {
  let low = 0;
  let high = leaf.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const entry = leaf[middle];
    if (entry !== undefined && compareKeys(entry.key, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
