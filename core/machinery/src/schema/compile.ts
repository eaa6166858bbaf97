import { type Checked, rulesOf, type SchemaRules } from '../rules/schema-rules.js';
import { type FieldError, noField } from '../validation/field-error.js';
import { isRecord } from '../value/record.js';
import type { Check } from './check.js';
import { compileCheck } from './compile-check.js';
import { withDefaults } from './defaults.js';
import { embeddedMetadataErrors } from './embedded-metadata.js';
import type { JsonSchema } from './json-schema.js';
import { type Pruned, prune } from './prune.js';

type Warn = (error: FieldError) => void;

/** A schema made ready for many objects. */
export interface CompiledSchema {
  /**
   * What is wrong with an object, in kube-apiserver's words and order; empty when all is well.
   * With `old`, the object before an update, fields that it did not change are not complained of (ratcheting).
   * `warn` is told of rules in CEL that do not hold for what was not changed.
   * Rules in CEL (`x-kubernetes-validations`) are evaluated once `loadEnginesFor` has resolved for the schema.
   */
  validate(value: unknown, old?: unknown, warn?: Warn): readonly FieldError[];
  /** As `validate`, for a write of the status alone: of the schema only what it says of the status is held against it. */
  validateStatus(value: unknown, old?: unknown, warn?: Warn): readonly FieldError[];
  /** See `withDefaults`. */
  withDefaults<T>(value: T): T;
  /** See `prune`. */
  prune<T>(value: T): Pruned<T>;
}

/** Compiles the schema of a custom resource: `apiVersion`, `kind` and `metadata` are part of it without being declared. */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const resource: JsonSchema = { ...schema, 'x-kubernetes-embedded-resource': true };
  // The server has seen to `apiVersion`, `kind` and the object's own metadata before.
  // When the first object is checked: by then the engines that `loadEnginesFor` loads are there.
  let compiled: Check | undefined;
  let compiledStatus: Check | undefined;
  let rules: SchemaRules | undefined;
  const withRules = (errors: readonly FieldError[], { value, old, warn }: Checked): readonly FieldError[] => {
    const found = [...errors, ...embeddedMetadataErrors(schema, value)];
    // Upstream looks at list types after all else.
    const ordered = [
      ...found.filter((error) => error.type !== 'Duplicate'),
      ...found.filter((error) => error.type === 'Duplicate'),
    ];
    rules ??= rulesOf(schema);
    return rules === undefined ? ordered : [...ordered, ...rules.errors({ value, old, warn }, ordered)];
  };
  return {
    validate: (value, old, warn = () => {}) => {
      compiled ??= compileCheck(schema);
      return withRules(explained(compiled, value, old), { value, old, warn });
    },
    validateStatus: (value, old, warn = () => {}) => {
      const status = schema.properties?.status;
      if (status === undefined || !isRecord(value) || value.status === undefined) {
        return withRules([], { value, old, warn });
      }
      compiledStatus ??= compileCheck(status);
      const errors = explained(compiledStatus, value.status, isRecord(old) ? old.status : undefined);
      // Messages name fields within the status, as upstream checks it as a value of its own.
      const placed = errors.map((error) => ({
        ...error,
        field: error.field === noField ? 'status' : `status.${error.field}`,
      }));
      return withRules(placed, { value, old, warn });
    },
    withDefaults: (value) => withDefaults(schema, value),
    prune: (value) => prune(resource, value),
  };
}

function explained(check: Check, value: unknown, old: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (!check.holds(value)) check.explain(value, { path: '', old, report: (error) => errors.push(error) });
  return errors;
}
