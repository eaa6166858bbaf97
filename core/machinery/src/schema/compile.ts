import { rulesOf, type SchemaRules } from '../rules/schema-rules.js';
import type { FieldError } from '../validation/field-error.js';
import type { Check } from './check.js';
import { compileCheck } from './compile-check.js';
import { withDefaults } from './defaults.js';
import { embeddedMetadataErrors } from './embedded-metadata.js';
import type { JsonSchema } from './json-schema.js';
import { type Pruned, prune } from './prune.js';

/** A schema made ready for many objects. */
export interface CompiledSchema {
  /**
   * What is wrong with an object, in kube-apiserver's words and order; empty when all is well.
   * With `old`, the object before an update, fields that it did not change are not complained of (ratcheting).
   * Rules in CEL (`x-kubernetes-validations`) are evaluated once `loadEnginesFor` has resolved for the schema.
   */
  validate(value: unknown, old?: unknown): readonly FieldError[];
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
  let rules: SchemaRules | undefined;
  return {
    validate: (value, old) => {
      const errors: FieldError[] = [];
      compiled ??= compileCheck(schema);
      const check = compiled;
      if (!check.holds(value)) check.explain(value, { path: '', old, report: (error) => errors.push(error) });
      errors.push(...embeddedMetadataErrors(schema, value));
      // Upstream looks at list types after all else.
      const ordered = [
        ...errors.filter((error) => error.type !== 'Duplicate'),
        ...errors.filter((error) => error.type === 'Duplicate'),
      ];
      rules ??= rulesOf(schema);
      return rules === undefined ? ordered : [...ordered, ...rules.errors(value, old, ordered)];
    },
    withDefaults: (value) => withDefaults(schema, value),
    prune: (value) => prune(resource, value),
  };
}
