import type { JsonSchema } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { isList, ownValue } from '../value/record.js';
import { combinatorBranches, walkSchema } from './walk-schema.js';

const schemaTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

/** Keywords of JSON Schema that Kubernetes never reads. */
const unsupportedKeywords = [
  '$ref',
  '$schema',
  'additionalItems',
  'definitions',
  'dependencies',
  'id',
  'patternProperties',
];

/** What of OpenAPI may not be used in any schema, the branches of combinators among them. */
export function openApiErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  const nullableRoot = schema.nullable
    ? [fieldError.forbidden(`${path}.nullable`, 'nullable cannot be true at the root')]
    : [];
  return [...nullableRoot, ...errorsWithin(schema, path)];
}

function errorsWithin(schema: JsonSchema, path: string): readonly FieldError[] {
  return walkSchema(schema, path).flatMap((each) => [
    ...errorsOf(each.schema, each.path),
    ...combinatorBranches(each.schema, each.path).flatMap((branch) => errorsWithin(branch.schema, branch.path)),
  ]);
}

/** What keeps a schema from being read as a structural one at all. */
export function unsupportedErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return walkSchema(schema, path).flatMap((each) => [
    ...keywordErrors(each.schema, each.path),
    ...combinatorBranches(each.schema, each.path).flatMap((branch) => unsupportedErrors(branch.schema, branch.path)),
  ]);
}

function keywordErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return unsupportedKeywords
    .filter((keyword) => ownValue({ ...schema }, keyword) !== undefined)
    .map((keyword) => fieldError.forbidden(`${path}.${keyword}`, `${keyword} is not supported`));
}

function errorsOf(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [...keywordErrors(schema, path)];
  if (schema.uniqueItems) {
    errors.push(
      fieldError.forbidden(
        `${path}.uniqueItems`,
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  }
  if (schema.additionalProperties !== undefined && Object.keys(schema.properties ?? {}).length > 0) {
    errors.push(
      fieldError.forbidden(`${path}.additionalProperties`, 'additionalProperties and properties are mutual exclusive'),
    );
  }
  if (isList(schema.items)) {
    errors.push(fieldError.forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) {
    errors.push(fieldError.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, 'must be true or undefined'));
  }
  return [...errors, ...typeErrors(schema, path)];
}

function typeErrors({ type = '' }: JsonSchema, path: string): readonly FieldError[] {
  if (type === 'null') {
    return [fieldError.forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')];
  }
  if (type === '' || schemaTypes.includes(type)) return [];
  return [fieldError.notSupported(`${path}.type`, type, schemaTypes)];
}
