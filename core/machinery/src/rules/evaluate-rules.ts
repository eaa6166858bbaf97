import { CelBudget } from '../cel/budget.js';
import { CelCostError, CelEvaluationError } from '../cel/cel-error.js';
import { celValueOf } from '../cel/from-json.js';
import { CelOptional, type CelValue } from '../cel/value.js';
import { childPath } from '../schema/check.js';
import type { ValidationRule } from '../schema/json-schema.js';
import { type FieldError, fieldError } from '../validation/field-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { isList, isRecord, ownValue } from '../value/record.js';
import type { CompiledRule, RuleNode } from './compile-rules.js';

/** What one rule, and all rules of an object, may cost. */
const unitsPerCall = 1_000_000;
const unitsPerObject = 10_000_000;

/** An object that rules are evaluated on. */
export interface Checked {
  readonly value: unknown;
  /** The object before an update. */
  readonly old: unknown;
  /** Told of what does not hold for a value that was not changed: it is let be. */
  readonly warn: (error: FieldError) => void;
}

interface Evaluation {
  report(error: FieldError): void;
  readonly warn: (error: FieldError) => void;
  remainingUnits: number;
}

interface Place {
  readonly path: string;
  /** What stood here before an update; undefined where there was nothing, or nothing that can be told to be the same. */
  readonly old: unknown;
}

/** The rules that do not hold, in kube-apiserver's words. */
export function evaluateRules(node: RuleNode, { value, old, warn }: Checked): readonly FieldError[] {
  const errors: FieldError[] = [];
  const evaluation: Evaluation = { report: (error) => errors.push(error), warn, remainingUnits: unitsPerObject };
  visit(node, value, { path: '', old }, evaluation);
  return errors;
}

function visit(node: RuleNode, value: unknown, at: Place, evaluation: Evaluation): void {
  if (value === undefined || value === null || evaluation.remainingUnits < 0) return;
  if (node.rules.length > 0) evaluateHere(node, value, at, evaluation);
  if (isRecord(value)) {
    const before = node.isGranular && isRecord(at.old) ? at.old : {};
    for (const [name, member] of Object.entries(value)) {
      const child = node.properties.get(name) ?? node.values;
      if (child === undefined) continue;
      visit(child, member, { path: memberPath(node, at.path, name), old: ownValue(before, name) }, evaluation);
    }
  } else if (isList(value) && node.items !== undefined) {
    const before = node.itemKeys !== undefined && isList(at.old) ? at.old : [];
    for (const [index, item] of value.entries()) {
      const old = before.find((other) => isSameItem(node.itemKeys ?? [], item, other));
      visit(node.items, item, { path: `${at.path}[${index}]`, old }, evaluation);
    }
  }
}

function memberPath(node: RuleNode, path: string, name: string): string {
  return node.properties.has(name) ? childPath(path, name) : `${path}[${name}]`;
}

function isSameItem(keys: readonly string[], item: unknown, other: unknown): boolean {
  if (!isRecord(item) || !isRecord(other)) return false;
  return keys.every((key) => deepEqual(ownValue(item, key), ownValue(other, key)));
}

function evaluateHere(node: RuleNode, value: unknown, at: Place, evaluation: Evaluation): void {
  const isUnchanged = at.old !== undefined && deepEqual(value, at.old);
  for (const compiled of node.rules) {
    const isFirst = at.old === undefined || at.old === null;
    if (compiled.isTransition && isFirst && compiled.rule.optionalOldSelf !== true) continue;
    // Ratcheting: a rule that came later does not stand in the way of changes elsewhere.
    const report = isUnchanged && !compiled.isTransition ? evaluation.warn : evaluation.report;
    if (!evaluateOne(node, compiled, value, at, evaluation, report)) return;
  }
}

/** False when no further rule is to be evaluated. */
function evaluateOne(
  node: RuleNode,
  compiled: CompiledRule,
  value: unknown,
  at: Place,
  evaluation: Evaluation,
  report: (error: FieldError) => void,
): boolean {
  const { rule, program } = compiled;
  const budget = new CelBudget(unitsPerCall);
  const complain = (detail: string) => report(fieldError.invalid(at.path || rootField, node.typeName, detail));
  const shown = rule.message?.trim() || rule.rule.trim();
  try {
    const variables = variablesOf(node, compiled, value, at.old);
    const holds = program.evaluate(variables, budget);
    if (holds !== true) report(violation(compiled, variables, value, at));
  } catch (error) {
    if (error instanceof CelCostError) {
      complain(
        `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`,
      );
      evaluation.remainingUnits = -1;
      return false;
    }
    if (!(error instanceof CelEvaluationError)) throw error;
    complain(
      error.message.startsWith('no such overload')
        ? `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`
        : `${error.message} evaluating rule: ${shown}`,
    );
  }
  evaluation.remainingUnits -= budget.spent;
  if (evaluation.remainingUnits >= 0) return true;
  complain('validation failed due to running out of cost budget, no further validation rules will be run');
  return false;
}

const rootField = '<nil>';

function variablesOf(
  node: RuleNode,
  { rule }: CompiledRule,
  value: unknown,
  old: unknown,
): ReadonlyMap<string, CelValue> {
  const variables = new Map<string, CelValue>([['self', celValueOf(value, node.type)]]);
  const before = old === undefined || old === null ? undefined : celValueOf(old, node.type);
  if (rule.optionalOldSelf === true) variables.set('oldSelf', new CelOptional(before));
  else if (before !== undefined) variables.set('oldSelf', before);
  return variables;
}

function violation(
  compiled: CompiledRule,
  variables: ReadonlyMap<string, CelValue>,
  value: unknown,
  at: Place,
): FieldError {
  const { rule } = compiled;
  const field = `${at.path}${rule.fieldPath ?? ''}`.replace(/^\./, '') || rootField;
  const detail = messageOf(compiled, variables);
  // A value that may be large, or that the error is not about, is not repeated.
  const shown = typeof value === 'object' || rule.fieldPath ? undefined : value;
  return ofReason(rule, field, shown, detail);
}

function ofReason({ reason }: ValidationRule, field: string, shown: unknown, detail: string): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return fieldError.forbidden(field, detail);
    case 'FieldValueRequired':
      return fieldError.required(field, detail);
    case 'FieldValueDuplicate':
      return fieldError.duplicate(field, shown);
    default:
      return fieldError.invalid(field, shown, detail);
  }
}

const longestMessage = 5 * 1024;

function messageOf({ rule, messageProgram }: CompiledRule, variables: ReadonlyMap<string, CelValue>): string {
  const otherwise = rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;
  if (messageProgram === undefined) return otherwise;
  try {
    const message = messageProgram.evaluate(variables, new CelBudget(unitsPerCall));
    const isUsable = typeof message === 'string' && message.trim() !== '' && !/[\r\n]/.test(message);
    return isUsable && message.length <= longestMessage ? message.trim() : otherwise;
  } catch (error) {
    if (error instanceof CelEvaluationError || error instanceof CelCostError) return otherwise;
    throw error;
  }
}
