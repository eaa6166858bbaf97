import { compileCheck } from '../schema/compile-check.js';
import { prune } from '../schema/prune.js';
import { type FieldError, fieldError, noField } from '../validation/field-error.js';
import type { SchemaAt } from './walk-schema.js';

/** That a default is a value that the schema itself would take. */
export function defaultErrors({ schema, path }: SchemaAt): readonly FieldError[] {
  if (schema.default === undefined) return [];
  const at = `${path}.default`;
  if (prune(schema, schema.default).droppedPaths.length > 0) {
    return [fieldError.invalid(at, schema.default, 'must not have unknown fields')];
  }
  const errors: FieldError[] = [];
  const check = compileCheck(schema);
  if (check.holds(schema.default)) return [];
  check.explain(schema.default, { path: '', old: undefined, report: (error) => errors.push(error) });
  return errors.map((error) => ({ ...error, field: error.field === noField ? at : `${at}.${error.field}` }));
}
