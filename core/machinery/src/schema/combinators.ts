import { type FieldError, fieldError, noField } from '../validation/field-error.js';
import type { Check, Place } from './check.js';
import type { JsonSchema } from './json-schema.js';

/** `allOf`, `anyOf`, `oneOf` and `not`. Upstream names no field for what they say of themselves. */
export function combinatorChecks(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check[] {
  const checks: Check[] = [];
  const { allOf = [], anyOf = [], oneOf = [], not } = schema;
  if (anyOf.length > 0) checks.push(anyOfCheck(anyOf.map(compile)));
  if (oneOf.length > 0) checks.push(oneOfCheck(oneOf.map(compile)));
  if (allOf.length > 0) checks.push(allOfCheck(allOf.map(compile)));
  if (not !== undefined) checks.push(notCheck(compile(not)));
  return checks;
}

function anyOfCheck(branches: readonly Check[]): Check {
  return {
    holds: (value) => branches.some((branch) => branch.holds(value)),
    explain: (value, at) => {
      complain(at, 'must validate at least one schema (anyOf)');
      reportClosest(branches, value, at);
    },
  };
}

function oneOfCheck(branches: readonly Check[]): Check {
  const count = (value: unknown) => branches.filter((branch) => branch.holds(value)).length;
  return {
    holds: (value) => count(value) === 1,
    explain: (value, at) => {
      const valid = count(value);
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
      complain(at, `must validate one and only one schema (oneOf). ${found}`);
      if (valid === 0) reportClosest(branches, value, at);
    },
  };
}

function allOfCheck(branches: readonly Check[]): Check {
  return {
    holds: (value) => branches.every((branch) => branch.holds(value)),
    explain: (value, at) => {
      const failed = branches.filter((branch) => !branch.holds(value));
      for (const branch of failed) branch.explain(value, at);
      complain(
        at,
        `must validate all the schemas (allOf)${failed.length === branches.length ? '. None validated' : ''}`,
      );
    },
  };
}

function notCheck(branch: Check): Check {
  return {
    holds: (value) => !branch.holds(value),
    explain: (_, at) => complain(at, 'must not validate the schema (not)'),
  };
}

function complain(at: Place, words: string): void {
  at.report(fieldError.invalid(noField, '', `${JSON.stringify(at.path)} ${words}`));
}

/** What is wrong according to the branch that has least to object. */
function reportClosest(branches: readonly Check[], value: unknown, at: Place): void {
  let closest: readonly FieldError[] | undefined;
  for (const branch of branches) {
    const errors: FieldError[] = [];
    branch.explain(value, { ...at, report: (error) => errors.push(error) });
    if (closest === undefined || errors.length < closest.length) closest = errors;
  }
  for (const error of closest ?? []) at.report(error);
}
