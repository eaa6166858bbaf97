import { fieldError } from '../validation/field-error.js';
import { canonicalJson } from '../value/canonical-json.js';
import { deepEqual } from '../value/deep-equal.js';
import { isRecord, ownValue } from '../value/record.js';
import type { Check } from './check.js';
import { fieldOf } from './check.js';
import type { JsonSchema } from './json-schema.js';

type Items = readonly unknown[];

export function arrayChecks(schema: JsonSchema, compile: (schema: JsonSchema) => Check): Check<Items>[] {
  const { items, minItems, maxItems, uniqueItems } = schema;
  const checks: Check<Items>[] = [];
  if (items !== undefined) checks.push(itemsCheck(compile(items), keyOfItem(schema)));
  if (minItems !== undefined) {
    checks.push({
      holds: (list) => list.length >= minItems,
      explain: (list, at) =>
        at.report(
          fieldError.invalid(fieldOf(at), list.length, `${at.path} in body should have at least ${minItems} items`),
        ),
    });
  }
  if (maxItems !== undefined) {
    checks.push({
      holds: (list) => list.length <= maxItems,
      explain: (list, at) => at.report(fieldError.tooMany(fieldOf(at), list.length, maxItems)),
    });
  }
  if (uniqueItems) {
    checks.push({
      holds: (list) => new Set(list.map(canonicalJson)).size === list.length,
      explain: (_, at) =>
        at.report(fieldError.invalid(fieldOf(at), '', `${at.path} in body shouldn't contain duplicates`)),
    });
  }
  const keyOf = keyOfItem(schema);
  if (keyOf !== undefined) checks.push(distinctCheck(keyOf));
  return checks;
}

/** What tells the items of a list of type `set` or `map` apart; `undefined` for an atomic list. */
function keyOfItem(schema: JsonSchema): ((item: unknown) => unknown) | undefined {
  if (schema['x-kubernetes-list-type'] === 'set') return (item) => item;
  if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return (item) => (isRecord(item) ? Object.fromEntries(keys.map((key) => [key, ownValue(item, key)])) : item);
}

/** The items that `check` refuses; an item that is as before an update is let be. */
function itemsCheck(check: Check, keyOf: ((item: unknown) => unknown) | undefined): Check<Items> {
  return {
    holds: (list) => {
      for (let index = 0; index < list.length; index += 1) {
        if (!check.holds(list[index])) return false;
      }
      return true;
    },
    explain: (list, at) => {
      const oldItems: Items = Array.isArray(at.old) ? at.old : [];
      for (const [index, item] of list.entries()) {
        if (check.holds(item)) continue;
        const old = keyOf && oldItems.find((other) => deepEqual(keyOf(other), keyOf(item)));
        check.explain(item, { path: `${at.path}[${index}]`, old, report: at.report });
      }
    },
  };
}

function distinctCheck(keyOf: (item: unknown) => unknown): Check<Items> {
  return {
    holds: (list) => list.length < 2 || new Set(list.map((item) => canonicalJson(keyOf(item)))).size === list.length,
    explain: (list, at) => {
      const seen = new Set<string>();
      for (const [index, item] of list.entries()) {
        const key = keyOf(item);
        const text = canonicalJson(key);
        if (seen.has(text)) at.report(fieldError.duplicate(`${at.path}[${index}]`, key));
        seen.add(text);
      }
    },
  };
}
