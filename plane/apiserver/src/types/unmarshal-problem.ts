import type { FieldType } from './field-types.js';

/**
 * What Go's decoder says of a value that does not fit its field.
 *
 * @param at the type that has the field (`core/v1.PodSpec`), and the way to it without indices (`spec.containers`).
 */
export function unmarshalProblem(
  value: unknown,
  field: FieldType,
  at: { readonly owner: string; readonly path: string },
): string {
  const struct = at.owner.slice(at.owner.indexOf('.') + 1);
  return `json: cannot unmarshal ${jsonType(value, field)} into Go struct field ${struct}.${at.path} of type ${goType(value, field)}`;
}

function jsonType(value: unknown, field: FieldType): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value !== 'number' && typeof value !== 'bigint') return typeof value;
  // A number that does not fit is named.
  return field.type.startsWith('int') ? `number ${value}` : 'number';
}

/** The Go type that was wanted: of the whole field where that is a list or map and the value is neither. */
function goType(value: unknown, { type, shape }: FieldType): string {
  const element = type === 'double' ? 'float64' : type.replace(/^.*\/([^/]+)$/, '$1');
  if (shape === 'list' && !Array.isArray(value)) return `[]${element}`;
  const isEntry = typeof value !== 'object' && !type.includes('/');
  return shape === 'map' && !isEntry ? `map[string]${element}` : element;
}
