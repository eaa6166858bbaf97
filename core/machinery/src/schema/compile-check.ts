import { fieldError } from '../validation/field-error.js';
import { canonicalJson } from '../value/canonical-json.js';
import { deepEqual } from '../value/deep-equal.js';
import { isList, isRecord } from '../value/record.js';
import { arrayChecks } from './array-checks.js';
import { type Check, fieldOf } from './check.js';
import { combinatorChecks } from './combinators.js';
import type { JsonSchema } from './json-schema.js';
import { objectChecks } from './object-checks.js';
import { type Numeric, numberChecks, stringChecks } from './scalar-checks.js';
import { kindOf, type ValueKind } from './value-kind.js';

/**
 * Compiles a schema into a check of values. Keywords apply to values of their own kind, whatever `type` says, and all
 * that fail are reported, as in kube-apiserver.
 */
export function compileCheck(schema: JsonSchema): Check {
  const ofKind = checksByKind(schema);
  const ofAny = [...combinatorChecks(schema, compileCheck), ...enumChecks(schema)];
  const types = typesOf(schema);
  const hasType = (kind: ValueKind) =>
    types.length === 0 ||
    types.includes(kind) ||
    (kind === 'integer' && types.includes('number')) ||
    (kind === 'null' && schema.nullable === true);
  const violated = (value: unknown, kind: ValueKind) =>
    [...ofKind[kind], ...ofAny].filter((check) => !check.holds(value));
  return {
    holds: (value) => {
      const kind = kindOf(value);
      if (!hasType(kind)) return false;
      for (const check of ofKind[kind]) if (!check.holds(value)) return false;
      for (const check of ofAny) if (!check.holds(value)) return false;
      return true;
    },
    explain: (value, at) => {
      // Ratcheting: a rule that came later does not stand in the way of changes elsewhere.
      if (at.old !== undefined && deepEqual(value, at.old)) return;
      const kind = kindOf(value);
      if (!hasType(kind)) {
        const wanted = types.join(',');
        at.report(fieldError.typeInvalid(fieldOf(at), kind, `${at.path} in body must be of type ${wanted}: "${kind}"`));
      }
      for (const check of violated(value, kind)) check.explain(value, at);
    },
  };
}

/** Empty where the schema demands no type; so for `null` in a place without a type. */
function typesOf(schema: JsonSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string']) return ['integer', 'string'];
  return schema.type === undefined || schema.type === '' ? [] : [schema.type];
}

function checksByKind(schema: JsonSchema): Readonly<Record<ValueKind, readonly Check[]>> {
  const numbers = numberChecks(schema).map((check) => only(isNumber, check));
  return {
    null: [],
    boolean: [],
    integer: numbers,
    number: numbers,
    string: stringChecks(schema).map((check) => only(isString, check)),
    array: arrayChecks(schema, compileCheck).map((check) => only(isList, check)),
    object: objectChecks(schema, compileCheck).map((check) => only(isRecord, check)),
  };
}

function enumChecks(schema: JsonSchema): Check[] {
  if (schema.enum === undefined || schema.enum.length === 0) return [];
  const scalars = new Set<unknown>(schema.enum.filter(isScalar));
  const others = new Set(schema.enum.filter((each) => !isScalar(each)).map(canonicalJson));
  const names = schema.enum.map((each) => (typeof each === 'string' ? each : canonicalJson(each)));
  return [
    {
      holds: (value) => (isScalar(value) ? scalars.has(value) : others.has(canonicalJson(value))),
      explain: (value, at) => at.report(fieldError.notSupported(fieldOf(at), value, names)),
    },
  ];
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** Makes a check of values of one kind into one of any value; others pass it. */
function only<T>(isOfKind: (value: unknown) => value is T, check: Check<T>): Check {
  return {
    holds: (value) => !isOfKind(value) || check.holds(value),
    explain: (value, at) => {
      if (isOfKind(value)) check.explain(value, at);
    },
  };
}

function isNumber(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}
