import type { JsonSchema } from '../schema/json-schema.js';

/** How values under a schema appear in an expression; `undefined` where the schema says too little: not accessible. */
export type SchemaType =
  | { readonly kind: 'scalar'; readonly name: ScalarName }
  | { readonly kind: 'list'; readonly items: SchemaType; readonly keys: readonly string[] | undefined }
  | { readonly kind: 'map'; readonly values: SchemaType }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, SchemaType> };

export type ScalarName = 'bool' | 'bytes' | 'double' | 'duration' | 'dyn' | 'int' | 'string' | 'timestamp';

const formats: Readonly<Record<string, ScalarName>> = {
  byte: 'bytes',
  date: 'timestamp',
  'date-time': 'timestamp',
  duration: 'duration',
};

const known = new WeakMap<JsonSchema, { readonly type: SchemaType | undefined }>();

/** The type of values under `schema`. Every field of an embedded resource has its `apiVersion`, `kind` and names. */
export function schemaTypeOf(schema: JsonSchema): SchemaType | undefined {
  const before = known.get(schema);
  if (before !== undefined) return before.type;
  const type = typeOf(schema);
  known.set(schema, { type });
  return type;
}

/** A custom resource as a whole. */
export function resourceTypeOf(schema: JsonSchema): SchemaType | undefined {
  return schemaTypeOf({ ...schema, 'x-kubernetes-embedded-resource': true });
}

function typeOf(schema: JsonSchema): SchemaType | undefined {
  if (schema['x-kubernetes-int-or-string']) return scalar('dyn');
  switch (schema.type) {
    case 'boolean':
      return scalar('bool');
    case 'integer':
      return scalar('int');
    case 'number':
      return scalar('double');
    case 'string':
      return scalar(formats[schema.format ?? ''] ?? 'string');
    case 'array': {
      const items = schema.items === undefined ? undefined : schemaTypeOf(schema.items);
      return items === undefined ? undefined : { kind: 'list', items, keys: keysOf(schema) };
    }
    case 'object':
      return objectType(schema);
    default:
      return undefined;
  }
}

function objectType(schema: JsonSchema): SchemaType | undefined {
  const { additionalProperties } = schema;
  if (typeof additionalProperties === 'object') {
    const values = schemaTypeOf(additionalProperties);
    return values === undefined ? undefined : { kind: 'map', values };
  }
  const fields = new Map<string, SchemaType>();
  if (schema['x-kubernetes-embedded-resource']) {
    const text = scalar('string');
    fields.set('apiVersion', text).set('kind', text);
    fields.set('metadata', { kind: 'object', fields: new Map([...metadataNames].map((name) => [name, text])) });
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = schemaTypeOf(property);
    if (type !== undefined && !(name === 'metadata' && fields.has(name))) fields.set(escapeName(name), type);
  }
  return { kind: 'object', fields };
}

const metadataNames = ['generateName', 'name'];

function scalar(name: ScalarName): SchemaType {
  return { kind: 'scalar', name };
}

/** Of a set no field tells items apart, but the whole does: no keys. */
function keysOf(schema: JsonSchema): readonly string[] | undefined {
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return schema['x-kubernetes-list-map-keys'] ?? [];
    case 'set':
      return [];
    default:
      return undefined;
  }
}

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

/** How an expression writes a name that the language could not read: `foo-bar` as `foo__dash__bar`. */
export function escapeName(name: string): string {
  if (reserved.has(name)) return `__${name}__`;
  return name
    .replace(/__/g, '__underscores__')
    .replace(/\./g, '__dot__')
    .replace(/-/g, '__dash__')
    .replace(/\//g, '__slash__');
}
