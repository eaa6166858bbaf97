import { InvalidKeyError } from '../errors.js';
import type { KeyRange } from '../keyspace.js';

/**
 * As `end` of a range: every key from `start` on, as in etcd. No other range can end there, because no key is
 * smaller than it.
 */
export const UNBOUNDED_END = '\0';

/** The range of all keys that begin with `prefix`; of all keys for the empty prefix. */
export function prefixRange(prefix: string): KeyRange {
  // In UTF-8, bytes are ordered as code points are: the first key after all with the prefix ends in the next code point.
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0) ?? 0;
    if (point === 0x10ffff) continue;
    const next = point === 0xd7ff ? 0xe000 : point + 1;
    return { start: prefix, end: points.join('') + String.fromCodePoint(next) };
  }
  return { start: prefix, end: UNBOUNDED_END };
}

export function isInRange(range: KeyRange, key: string): boolean {
  if (range.end === undefined) return key === range.start;
  return compareKeys(key, range.start) >= 0 && (range.end === UNBOUNDED_END || compareKeys(key, range.end) < 0);
}

/** Negative, zero or positive, in the order of the keys' UTF-8 bytes. JavaScript's `<` orders UTF-16 code units. */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index++) {
    const leftUnit = left.charCodeAt(index);
    const rightUnit = right.charCodeAt(index);
    if (leftUnit !== rightUnit) return rank(leftUnit) - rank(rightUnit);
  }
  return left.length - right.length;
}

export function assertKey(key: string): void {
  if (key === '' || /\p{Surrogate}/u.test(key)) throw new InvalidKeyError(key);
}

/** Surrogates stand for the code points above all others, so they go behind U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
