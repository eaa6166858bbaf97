import { deepEqual } from '../value/deep-equal.js';
import { isRecord, ownValue, recordOf, withChanges } from '../value/record.js';

/**
 * Applies a JSON merge patch (RFC 7386): objects are merged, `null` removes, all else replaces. `target` is not
 * changed; the result shares what stays.
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const before = isRecord(target) ? target : {};
  const changes = new Map<string, unknown>();
  for (const [key, change] of Object.entries(patch)) {
    if (change === undefined) continue;
    const old = ownValue(before, key);
    const next = change === null ? undefined : applyMergePatch(old, change);
    if (next !== old) changes.set(key, next);
  }
  return withChanges(before, changes);
}

/**
 * The least merge patch that makes `after` of `before`; an empty object when they are equal. A merge patch cannot say
 * that an object has a member `null`: such members of `after` are lost.
 */
export function createMergePatch(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return after;
  const patch = new Map<string, unknown>();
  for (const [key, value] of Object.entries(after)) {
    const old = ownValue(before, key);
    if (value === undefined || (old !== undefined && deepEqual(old, value))) continue;
    patch.set(key, isRecord(old) && isRecord(value) ? createMergePatch(old, value) : value);
  }
  for (const [key, old] of Object.entries(before)) {
    if (old !== undefined && ownValue(after, key) === undefined) patch.set(key, null);
  }
  return recordOf(patch);
}
