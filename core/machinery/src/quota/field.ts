import { isRecord, ownValue } from '../value/record.js';

/** The value at a path of fields of an object that was not looked at yet; `undefined` where one is missing. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((current, field) => (isRecord(current) ? ownValue(current, field) : undefined), value);
}

export function itemsAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const items = fieldAt(value, ...path);
  return Array.isArray(items) ? items : [];
}
