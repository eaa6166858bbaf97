import type { JsonSchema } from '../schema/json-schema.js';
import { compilePattern } from '../schema/pattern.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { type SchemaAt, type SchemaRole, walkSchema } from './walk-schema.js';

/** That each declared field has its type, and what goes with it. */
export function shapeErrors(schema: JsonSchema, path: string): readonly FieldError[] {
  return walkSchema(schema, path).flatMap((each) => [
    ...typeErrors(each),
    ...rootErrors(each),
    ...extensionErrors(each),
    ...patternErrors(each.schema, each.path),
  ]);
}

const missingType: Readonly<Record<SchemaRole, string>> = {
  root: 'must not be empty at the root',
  items: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function typeErrors({ schema, path, role }: SchemaAt): readonly FieldError[] {
  const { type = '' } = schema;
  if (schema['x-kubernetes-embedded-resource'] && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    return [
      type === '' ? fieldError.required(`${path}.type`, detail) : fieldError.invalid(`${path}.type`, type, detail),
    ];
  }
  if (type === 'array' && schema.items === undefined) {
    return [fieldError.required(`${path}.items`, 'must be specified')];
  }
  const needsType = !schema['x-kubernetes-int-or-string'] && !schema['x-kubernetes-preserve-unknown-fields'];
  return type === '' && needsType ? [fieldError.required(`${path}.type`, missingType[role])] : [];
}

function rootErrors({ schema, path, role }: SchemaAt): readonly FieldError[] {
  if (role !== 'root') return [];
  const { type = '' } = schema;
  return [
    ...(type === '' || type === 'object'
      ? []
      : [fieldError.invalid(`${path}.type`, type, 'must be object at the root')]),
    ...(schema.additionalProperties === undefined
      ? []
      : [fieldError.forbidden(`${path}.additionalProperties`, 'must not be used at the root')]),
  ];
}

function extensionErrors({ schema, path }: SchemaAt): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-int-or-string']) {
    const excluded = ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const;
    for (const name of excluded) {
      if (schema[name]) {
        errors.push(fieldError.invalid(`${path}.${name}`, true, 'must be false if x-kubernetes-int-or-string is true'));
      }
    }
  }
  if (!schema['x-kubernetes-embedded-resource']) return errors;
  if (schema.additionalProperties !== undefined) {
    errors.push(
      fieldError.forbidden(`${path}.additionalProperties`, 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  }
  if (!schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(schema.properties ?? {}).length === 0) {
    errors.push(
      fieldError.required(
        `${path}.properties`,
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  }
  return errors;
}

export function patternErrors({ pattern }: JsonSchema, path: string): readonly FieldError[] {
  if (pattern === undefined || pattern === '') return [];
  try {
    compilePattern(pattern);
    return [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fieldError.invalid(`${path}.pattern`, pattern, `must be a valid regular expression, but isn't: ${reason}`)];
  }
}
