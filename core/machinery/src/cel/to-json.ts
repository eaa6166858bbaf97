import { CelEvaluationError } from './cel-error.js';
import { CelDuration, CelTimestamp } from './time.js';
import { CelUint, type CelValue, isCelList, isCelMap, isCelObject, typeNameOf } from './value.js';

/** A value of an expression as JSON; integers beyond 2^53 stay `bigint`. @throws CelEvaluationError for what JSON has not. */
export function jsonOfCel(value: CelValue): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof Uint8Array) return btoa(String.fromCharCode(...value));
  if (isCelList(value)) return value.map(jsonOfCel);
  if (isCelMap(value)) {
    return Object.fromEntries(value.keys().map((key) => [String(key), jsonOfCel(value.get(key) ?? null)]));
  }
  if (value instanceof CelUint) return jsonOfCel(value.value);
  if (value instanceof CelTimestamp || value instanceof CelDuration) return value.toString();
  throw new CelEvaluationError(`${isCelObject(value) ? typeNameOf(value) : 'value'} cannot be converted to JSON`);
}
