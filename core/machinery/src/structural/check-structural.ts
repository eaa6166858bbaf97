import { celEngine } from '../cel/engine.js';
import { hasRules } from '../rules/compile-rules.js';
import { ruleErrors } from '../rules/rule-errors.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { type FieldError, formatFieldError } from '../validation/field-error.js';
import { defaultErrors } from './default-rules.js';
import { listTypeErrors } from './list-type-rules.js';
import { metadataErrors } from './metadata-rules.js';
import { nestedErrors } from './nested-rules.js';
import { openApiErrors, unsupportedErrors } from './openapi-rules.js';
import { shapeErrors } from './shape-rules.js';
import { walkSchema } from './walk-schema.js';

/**
 * What is wrong with the schema of a CustomResourceDefinition, in kube-apiserver's words; empty when it can be served.
 * Judged are the part of OpenAPI that may be used at all; that the schema is structural (each field is declared, with
 * its type, outside of allOf, anyOf, oneOf and not); of one that is, that its defaults hold; and of one that is good so
 * far, once `loadEnginesFor` has resolved for the schema, that its rules in CEL compile.
 *
 * @param path how errors name the schema; that of a definition whose versions all have the same one unless told.
 */
export function checkStructural(schema: JsonSchema, path = 'spec.validation.openAPIV3Schema'): readonly FieldError[] {
  const unreadable = unsupportedErrors(schema, path);
  const misused = [...openApiErrors(schema, path), ...listTypeErrors(schema, path)];
  // What cannot be read as a structural schema is not judged as one.
  if (unreadable.length > 0) return misused;
  const shapes = sorted([...shapeErrors(schema, path), ...metadataErrors(schema, path), ...nestedErrors(schema, path)]);
  const defaults = shapes.length > 0 ? [] : walkSchema(schema, path).flatMap(defaultErrors);
  const errors = [...misused, ...shapes, ...defaults];
  const engine = celEngine();
  return errors.length > 0 || engine === undefined || !hasRules(schema) ? errors : ruleErrors(schema, path, engine);
}

function sorted(errors: readonly FieldError[]): readonly FieldError[] {
  return [...errors].sort((a, b) => (formatFieldError(a) < formatFieldError(b) ? -1 : 1));
}
