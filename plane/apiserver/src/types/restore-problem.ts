import type { FieldType } from './field-types.js';

/**
 * What Go says of a value that does not fit its field in the result of a strategic merge, which it does not read from
 * a text: it restores structures from maps.
 */
export function restoreProblem(value: unknown, { type, shape }: FieldType): string {
  const kind = kindOf(value);
  if (shape === 'list' && kind !== 'slice') return `cannot restore slice from ${kind}`;
  if (shape === 'map' && kind !== 'map') return `cannot restore map from ${kind}`;
  if (type.includes('/')) return `cannot restore struct from: ${kind}`;
  const isNumber = kind === 'int64' || kind === 'float64';
  const isConvertible = type === 'string' ? kind === 'int64' : type !== 'bool' && isNumber;
  return isConvertible ? `cannot convert ${kind} to ${type}` : `unrecognized type: ${type}`;
}

/** Go's kind of a value that was read from JSON. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64';
    default:
      return 'map';
  }
}
