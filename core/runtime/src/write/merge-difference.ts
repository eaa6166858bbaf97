import { isRecord, ownValue } from '@castellan/machinery';

/** The fields of `desired` that `actual` does not have so, as the body of a JSON merge patch; `undefined` when none. */
export function mergeDifference(desired: unknown, actual: unknown): unknown {
  if (isRecord(desired) && isRecord(actual)) {
    const changes: [string, unknown][] = [];
    for (const [name, value] of Object.entries(desired)) {
      if (value === undefined) continue;
      const change = mergeDifference(value, ownValue(actual, name) ?? null);
      if (change !== undefined) changes.push([name, change]);
    }
    return changes.length === 0 ? undefined : Object.fromEntries(changes);
  }
  return holds(desired, actual) ? undefined : desired;
}

/**
 * Whether `actual` is `desired`, apart from fields of objects that only `actual` has: defaults of the server, in the
 * elements of arrays as well. A desired null is an absent field.
 */
function holds(desired: unknown, actual: unknown): boolean {
  if (desired === null || desired === undefined) return actual === null || actual === undefined;
  if (Array.isArray(desired)) {
    if (!Array.isArray(actual) || actual.length !== desired.length) return false;
    return desired.every((item, index) => holds(item, actual[index]));
  }
  if (isRecord(desired)) {
    return isRecord(actual) && Object.entries(desired).every(([name, value]) => holds(value, ownValue(actual, name)));
  }
  return desired === actual;
}

/** Equal in all fields; one that is undefined counts as absent. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => isSame(item, b[index]));
  }
  if (isRecord(a) && isRecord(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) =>
      isSame(ownValue(a, name), ownValue(b, name)),
    );
  }
  return a === b;
}
