import type { JsonSchema } from '../schema/json-schema.js';

/** What a schema stands for within the whole: messages differ by it. */
export type SchemaRole = 'root' | 'items' | 'field';

export interface SchemaAt {
  readonly schema: JsonSchema;
  /** `spec.validation.openAPIV3Schema.properties[spec].items` */
  readonly path: string;
  readonly role: SchemaRole;
}

/** A schema and all under it that declare fields: properties, items and additionalProperties; not the combinators. */
export function walkSchema(schema: JsonSchema, path: string, role: SchemaRole = 'root'): readonly SchemaAt[] {
  return [
    { schema, path, role },
    ...childrenOf(schema, path).flatMap((child) => walkSchema(child.schema, child.path, child.role)),
  ];
}

function childrenOf(schema: JsonSchema, path: string): readonly SchemaAt[] {
  const { additionalProperties, items } = schema;
  const children: SchemaAt[] = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    schema: property,
    path: `${path}.properties[${name}]`,
    role: 'field',
  }));
  if (items !== undefined) children.push({ schema: items, path: `${path}.items`, role: 'items' });
  if (typeof additionalProperties === 'object') {
    children.push({ schema: additionalProperties, path: `${path}.additionalProperties`, role: 'field' });
  }
  return children;
}

/** The schemas under allOf, anyOf, oneOf and not. */
export function combinatorBranches(schema: JsonSchema, path: string): readonly Omit<SchemaAt, 'role'>[] {
  const lists = (['allOf', 'anyOf', 'oneOf'] as const).flatMap((name) =>
    (schema[name] ?? []).map((branch, index) => ({ schema: branch, path: `${path}.${name}[${index}]` })),
  );
  return schema.not === undefined ? lists : [...lists, { schema: schema.not, path: `${path}.not` }];
}
