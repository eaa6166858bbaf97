import type { JsonValue } from '../schema/json-schema.js';
import { isList, isRecord } from './record.js';

/** `value` as JSON. @throws Error naming the place of what JSON cannot hold: a function, a date, NaN. */
export function jsonValueOf(value: unknown, path = ''): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isList(value)) return value.map((item, index) => jsonValueOf(item, `${path}[${index}]`));
  if (isRecord(value) && isPlain(value)) {
    const entries = Object.entries(value).filter(([, child]) => child !== undefined);
    return Object.fromEntries(entries.map(([name, child]) => [name, jsonValueOf(child, `${path}.${name}`)]));
  }
  throw new Error(`${path === '' ? 'the value' : path} is not JSON: ${String(value)}`);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
