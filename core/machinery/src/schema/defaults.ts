import { isRecord, ownValue, withChanges } from '../value/record.js';
import type { JsonSchema } from './json-schema.js';

/**
 * `value` with the defaults of its schema, and without nulls where the schema allows none. Nothing is changed in place:
 * parts that stay as they are, are shared.
 */
export function withDefaults<T>(schema: JsonSchema, value: T): T;
export function withDefaults(schema: JsonSchema, value: unknown): unknown {
  if (Array.isArray(value)) return withDefaultsInItems(schema, value);
  if (!isRecord(value)) return value;
  const changes = new Map<string, unknown>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const before = ownValue(value, name);
    const after = defaulted(property, before);
    if (after !== before) changes.set(name, after);
  }
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    for (const [name, before] of Object.entries(value)) {
      if (Object.hasOwn(schema.properties ?? {}, name)) continue;
      const after = defaulted(additionalProperties, before);
      if (after !== before) changes.set(name, after);
    }
  }
  return withChanges(value, changes);
}

function withDefaultsInItems(schema: JsonSchema, list: readonly unknown[]): readonly unknown[] {
  const { items } = schema;
  if (items === undefined) return list;
  // A null item with no default stays, and validation complains of it: leaving it out would move the others.
  const after = list.map((item) => defaulted(items, item) ?? item);
  return after.some((item, index) => item !== list[index]) ? after : list;
}

/** `undefined` where the value is absent, or null against the schema, and there is no default. */
function defaulted(schema: JsonSchema, value: unknown): unknown {
  const isMissing = value === undefined || (value === null && schema.nullable !== true);
  const present = isMissing ? schema.default : value;
  return present === undefined ? undefined : withDefaults(schema, present);
}
