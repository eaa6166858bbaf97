import { ArraySchema } from './array-schema.js';
import { MapSchema, objectSchema } from './object-schema.js';
import { NumberSchema, StringSchema } from './scalar-schemas.js';
import { type AnySchema, SchemaBuilder } from './schema-builder.js';
import { unionSchema } from './union-schema.js';
import {
  anyFieldsSchema,
  conditionsSchema,
  embeddedResourceSchema,
  intOrStringSchema,
  labelSelectorSchema,
  quantitySchema,
} from './well-known-schemas.js';

/**
 * Builds the schema of a kind: `s.object({ size: s.integer().min(1).max(9).default(3), image: s.string() })`. A field is required
 * unless it is `optional()` or has a `default(…)`.
 */
export const s = {
  object: objectSchema,
  string: () => new StringSchema({ type: 'string' }, 'required'),
  integer: () => new NumberSchema({ type: 'integer' }, 'required'),
  /** With or without a fraction. */
  number: () => new NumberSchema({ type: 'number' }, 'required'),
  boolean: () => new SchemaBuilder<boolean>({ type: 'boolean' }, 'required'),
  array: <S extends AnySchema>(items: S) => new ArraySchema<S>({ type: 'array', items: items.json }, 'required'),
  /** From names of the user's choice to values of one schema. */
  map: <S extends AnySchema>(values: S) =>
    new MapSchema<S>({ type: 'object', additionalProperties: values.json }, 'required'),
  /** One of these texts. */
  enumeration: <const Values extends readonly [string, ...string[]]>(values: Values) =>
    new SchemaBuilder<Values[number]>({ type: 'string', enum: values }, 'required'),
  /** This value and no other. */
  literal: <const Value extends string | number | boolean>(value: Value) =>
    new SchemaBuilder<Value>({ type: typeOfLiteral(value), enum: [value] }, 'required'),
  union: unionSchema,
  intOrString: intOrStringSchema,
  quantity: quantitySchema,
  /** `1h30m`, `500ms`. */
  duration: () => new StringSchema({ type: 'string', format: 'duration' }, 'required'),
  /** RFC 3339. */
  dateTime: () => new StringSchema({ type: 'string', format: 'date-time' }, 'required'),
  labelSelector: labelSelectorSchema,
  embeddedResource: embeddedResourceSchema,
  anyFields: anyFieldsSchema,
  conditions: conditionsSchema,
} as const;

function typeOfLiteral(value: string | number | boolean): string {
  if (typeof value !== 'number') return typeof value;
  return Number.isInteger(value) ? 'integer' : 'number';
}
