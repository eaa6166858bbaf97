import type { JsonSchema } from '../schema/json-schema.js';
import { isList, isRecord } from '../value/record.js';

/** Whether something holds for a schema or one anywhere under it. Remembered, as schemas are large and do not change. */
export function anySchema(holds: (schema: JsonSchema) => boolean): (schema: JsonSchema) => boolean {
  const known = new WeakMap<JsonSchema, boolean>();
  const isFound = (schema: JsonSchema): boolean => {
    const before = known.get(schema);
    if (before !== undefined) return before;
    const found = holds(schema) || childrenOf(schema).some(isFound);
    known.set(schema, found);
    return found;
  };
  return isFound;
}

/** What comes from outside may have anything where schemas belong. */
function childrenOf(schema: JsonSchema): readonly JsonSchema[] {
  const { additionalProperties, items, not, allOf, anyOf, oneOf } = schema;
  const named = isRecord(schema.properties) ? Object.values(schema.properties) : [];
  const branches = [allOf, anyOf, oneOf].flatMap((list) => (isList(list) ? list : []));
  return [...named, items, not, additionalProperties, ...branches].filter(isRecord);
}
