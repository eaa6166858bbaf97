import { isRecord } from './record.js';

/** Whether two JSON values are the same. A key whose value is `undefined` counts as absent, as in JSON. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  let presentInA = 0;
  for (const key of Object.keys(a)) {
    const value = a[key];
    if (value === undefined) continue;
    presentInA += 1;
    if (!Object.hasOwn(b, key) || !deepEqual(value, b[key])) return false;
  }
  return presentInA === Object.keys(b).filter((key) => b[key] !== undefined).length;
}
