import { celEngine, loadCelEngine } from '../cel/engine.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { loadRegularExpressions } from '../schema/regular-expressions.js';
import { type FieldError, fieldError, noField } from '../validation/field-error.js';
import { anySchema } from './any-schema.js';
import { compileRules, hasRules, type RuleNode } from './compile-rules.js';
import { type Checked, evaluateRules } from './evaluate-rules.js';

/**
 * Loads what a schema needs beyond itself: an engine for its regular expressions, one for its rules in CEL. Where it was
 * not called, patterns are JavaScript's and `compileSchema` evaluates no rules.
 */
export async function loadEnginesFor(schema: JsonSchema): Promise<void> {
  if (hasRules(schema)) await loadCelEngine();
  else if (hasPatterns(schema)) await loadRegularExpressions();
}

/** The rules of a schema as one check; `undefined` where it has none or their engine is not loaded. */
export function rulesOf(schema: JsonSchema): SchemaRules | undefined {
  const engine = celEngine();
  if (engine === undefined || !hasRules(schema)) return undefined;
  let compiled: { readonly node: RuleNode | undefined } | undefined;
  return {
    errors: (checked, others) => {
      if (others.some(({ type }) => blocking.has(type))) return [notChecked];
      compiled ??= { node: compileRules(schema, engine) };
      return compiled.node === undefined ? [] : evaluateRules(compiled.node, checked);
    },
  };
}

export type { Checked };

export interface SchemaRules {
  /** `others` is what else is wrong: rules are not evaluated on what is not of its types. */
  errors(checked: Checked, others: readonly FieldError[]): readonly FieldError[];
}

const blocking: ReadonlySet<string> = new Set(['Required', 'TooLong', 'TooMany', 'TypeInvalid', 'NotSupported']);

const notChecked = fieldError.invalid(
  noField,
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

const hasPatterns = anySchema(({ pattern }) => (pattern ?? '') !== '');
