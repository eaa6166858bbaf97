import { isRecord, type JsonRecord } from '../json.js';
import { type FieldType, objectType, typeNameOf } from './field-types.js';

/** An object of a built-in kind with its fields in the order of its Go structures, and its maps sorted. */
export function inGoOrder(
  type: { readonly group: string; readonly version: string; readonly kind: string },
  object: JsonRecord,
): JsonRecord {
  const { kind, apiVersion, ...fields } = object;
  return { kind, apiVersion, ...structure(fields, typeNameOf(type)) };
}

function structure(value: JsonRecord, typeName: string): JsonRecord {
  const type = objectType(typeName);
  if (type === undefined) return sorted(value);
  const names = [...type.byName.keys()];
  const places = new Map(names.map((name, index) => [name, index]));
  const rank = (name: string) => places.get(name) ?? -1;
  const entries = Object.entries(value).sort(([a], [b]) => rank(a) - rank(b));
  return Object.fromEntries(entries.map(([name, child]) => [name, field(child, type.byName.get(name))]));
}

function field(value: unknown, type: FieldType | undefined): unknown {
  if (type === undefined) return value;
  if (type.shape === 'list' && Array.isArray(value)) return value.map((item) => element(item, type));
  if (type.shape !== 'map' || !isRecord(value)) return element(value, type);
  return Object.fromEntries(Object.entries(sorted(value)).map(([name, item]) => [name, element(item, type)]));
}

function element(value: unknown, { type }: FieldType): unknown {
  return isRecord(value) ? structure(value, type) : value;
}

/** Of what is inside nothing is known. */
function sorted(value: JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
