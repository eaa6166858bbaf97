import type { JsonSchema } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { patternErrors } from './shape-rules.js';
import { combinatorBranches, walkSchema } from './walk-schema.js';

/**
 * Within allOf, anyOf, oneOf and not a schema may restrict values only: fields, types and all that says how values are
 * kept must stand outside, so that pruning and defaulting need not know which branch holds.
 */
export function nestedErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return walkSchema(schema, path).flatMap((each) =>
    branchesToCheck(each.schema, each.path).flatMap((branch) => [
      ...restrictionErrors(branch.schema, branch.path),
      ...undeclaredErrors(each.schema, each.path, branch.schema, branch.path),
    ]),
  );
}

const intOrString: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }];

/** All branches but those of the idiom that int-or-string schemas are allowed: `anyOf: [integer, string]`. */
function branchesToCheck(schema: JsonSchema, path: string): readonly { schema: JsonSchema; path: string }[] {
  if (!schema['x-kubernetes-int-or-string']) return combinatorBranches(schema, path);
  const { anyOf, allOf = [] } = schema;
  const [first] = allOf;
  return combinatorBranches(schema, path).filter((branch) => {
    if (anyOf !== undefined && deepEqual(anyOf, intOrString)) return !anyOf.includes(branch.schema);
    return !(branch.schema === first && deepEqual(first, { anyOf: intOrString }));
  });
}

const forbiddenKeywords: readonly (readonly [keyof JsonSchema, string])[] = [
  ['type', 'must be empty to be structural'],
  ['additionalProperties', 'must be undefined to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['externalDocs', 'must be undefined to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

function restrictionErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [keyword, detail] of forbiddenKeywords) {
    const value = schema[keyword];
    if (value !== undefined && value !== '' && value !== false)
      errors.push(fieldError.forbidden(`${path}.${keyword}`, detail));
  }
  if (Object.hasOwn(schema.properties ?? {}, 'metadata')) {
    errors.push(fieldError.forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  }
  errors.push(...patternErrors(schema, path));
  for (const inner of innerSchemas(schema, path)) errors.push(...restrictionErrors(inner.schema, inner.path));
  return errors;
}

function innerSchemas(schema: JsonSchema, path: string): readonly { schema: JsonSchema; path: string }[] {
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    schema: property,
    path: `${path}.properties[${name}]`,
  }));
  const items = schema.items === undefined ? [] : [{ schema: schema.items, path: `${path}.items` }];
  return [...properties, ...items, ...combinatorBranches(schema, path)];
}

/** Fields and items that a branch restricts without their being declared outside. */
function undeclaredErrors(
  outer: JsonSchema,
  outerPath: string,
  inner: JsonSchema,
  innerPath: string,
): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [name, property] of Object.entries(inner.properties ?? {})) {
    const declared = Object.hasOwn(outer.properties ?? {}, name) ? outer.properties?.[name] : undefined;
    const at = `${outerPath}.properties[${name}]`;
    const nestedAt = `${innerPath}.properties[${name}]`;
    if (declared === undefined) errors.push(fieldError.required(at, `because it is defined in ${nestedAt}`));
    else errors.push(...undeclaredErrors(declared, at, property, nestedAt));
  }
  if (inner.items !== undefined) {
    const at = `${outerPath}.items`;
    if (outer.items === undefined) errors.push(fieldError.required(at, `because it is defined in ${innerPath}.items`));
    else errors.push(...undeclaredErrors(outer.items, at, inner.items, `${innerPath}.items`));
  }
  for (const branch of combinatorBranches(inner, innerPath)) {
    errors.push(...undeclaredErrors(outer, outerPath, branch.schema, branch.path));
  }
  return errors;
}
