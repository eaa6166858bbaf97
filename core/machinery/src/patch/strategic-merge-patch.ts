import { StatusError } from '../status-error.js';
import { canonicalJson } from '../value/canonical-json.js';
import { isList, isRecord, type JsonRecord, ownValue, recordOf } from '../value/record.js';
import { arrangeElements } from './element-order.js';
import { goValue } from './go-value.js';
import type { MergeRule, MergeRules } from './merge-keys.js';
import { directives, isDirective, withoutDirectives } from './patch-directives.js';

/**
 * Applies a strategic merge patch: a merge patch in which `rules` name the lists that are merged by element, and
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`) say the rest. `original` is
 * not changed.
 *
 * @throws StatusError 400 or 500 in the words of kube-apiserver when the patch makes no sense.
 */
export function applyStrategicMergePatch(original: unknown, patch: unknown, rules: MergeRules): unknown {
  if (!isRecord(patch)) {
    throw StatusError.of('BadRequest', 'error decoding patch: a strategic merge patch is an object');
  }
  return mergeObject(isRecord(original) ? original : {}, patch, { rules, parent: '' });
}

interface Context {
  readonly rules: MergeRules;
  /** The field that holds the object at hand. */
  readonly parent: string;
}

function mergeObject(original: JsonRecord, patch: JsonRecord, context: Context): JsonRecord {
  const directive = ownValue(patch, directives.patch);
  if (directive === 'replace') return recordOf(Object.entries(patch).filter(([key]) => key !== directives.patch));
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw unknownDirective(directive, patch);
  const result = new Map<string, unknown>(Object.entries(retainedKeys(original, patch)));
  for (const field of fieldsOf(patch)) {
    const change = fieldChange(patch, field);
    if (change.value === null) result.delete(field);
    const before = result.get(field);
    const after = mergeField(before, change, { field, rule: context.rules(context.parent, field), context });
    if (after !== undefined) result.set(field, after);
  }
  return recordOf(result);
}

/** What is left of `original` under `$retainKeys`, which must name all keys that the patch sets. */
function retainedKeys(original: JsonRecord, patch: JsonRecord): JsonRecord {
  const retained = ownValue(patch, directives.retainKeys);
  if (retained === undefined) return original;
  const isComplete = Object.entries(patch).every(
    ([key, value]) => value === null || isDirective(key) || (isList(retained) && retained.includes(key)),
  );
  if (!isList(retained) || !isComplete) {
    throw StatusError.of('BadRequest', 'invalid patch format of retainKeys');
  }
  return recordOf(Object.entries(original).filter(([key]) => retained.includes(key)));
}

/** The fields that a patch has something to say of, be it by a directive only. */
function fieldsOf(patch: JsonRecord): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const key of Object.keys(patch)) {
    if (key.startsWith(directives.setElementOrder)) fields.add(key.slice(directives.setElementOrder.length));
    else if (key.startsWith(directives.deleteFromPrimitiveList)) {
      fields.add(key.slice(directives.deleteFromPrimitiveList.length));
    } else if (!isDirective(key)) fields.add(key);
  }
  return fields;
}

interface FieldChange {
  /** `undefined` where only directives speak of the field. */
  readonly value: unknown;
  readonly order: readonly unknown[] | undefined;
  readonly deletions: readonly unknown[];
}

function fieldChange(patch: JsonRecord, field: string): FieldChange {
  const order = ownValue(patch, `${directives.setElementOrder}${field}`);
  const deletions = ownValue(patch, `${directives.deleteFromPrimitiveList}${field}`);
  if (order !== undefined && !isList(order)) {
    throw StatusError.of('BadRequest', 'invalid patch format of setElementOrder list');
  }
  if (deletions !== undefined && !isList(deletions)) {
    throw StatusError.of('BadRequest', 'invalid patch format of primitive list');
  }
  return { value: ownValue(patch, field), order, deletions: deletions ?? [] };
}

interface FieldContext {
  readonly field: string;
  readonly rule: MergeRule | undefined;
  readonly context: Context;
}

function mergeField(before: unknown, change: FieldChange, at: FieldContext): unknown {
  const { value } = change;
  if (value === null) return undefined;
  const within: Context = { rules: at.context.rules, parent: at.field };
  if (isRecord(value) && isRecord(before)) {
    return at.rule?.by === 'replacement' ? withoutDirectives(value) : mergeObject(before, value, within);
  }
  if (isRecord(value) && ownValue(value, directives.patch) === 'delete') return undefined;
  if (value !== undefined && !isList(value)) return withoutDirectives(value);
  if (at.rule?.by === 'key') return mergeKeyedList(asList(before), change, { key: at.rule.key, within });
  if (at.rule?.by === 'value') return mergeValueList(asList(before), change);
  return value === undefined ? deleteValues(before, change.deletions) : withoutDirectives(value);
}

function asList(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}

function deleteValues(before: unknown, deletions: readonly unknown[]): unknown {
  return isList(before) ? before.filter((item) => !deletions.includes(item)) : before;
}

function mergeValueList(before: readonly unknown[], change: FieldChange): readonly unknown[] {
  const added = asList(change.value);
  const merged = new Map<string, unknown>();
  for (const item of [...before.filter((each) => !change.deletions.includes(each)), ...added]) {
    merged.set(canonicalJson(item), item);
  }
  if (change.order !== undefined) assertOrder(added, change.order, canonicalJson);
  const order = (change.order ?? added).map(canonicalJson);
  return inOrder(merged, order, before.map(canonicalJson));
}

interface KeyedList {
  readonly key: string;
  readonly within: Context;
}

function mergeKeyedList(before: readonly unknown[], change: FieldChange, list: KeyedList): readonly unknown[] {
  const identify = (item: unknown) => identityOf(item, list.key);
  const items = asList(change.value);
  const orders = items.filter((item) => isRecord(item) && Object.hasOwn(item, directives.patch));
  const additions = items.filter((item) => !orders.includes(item));
  const isReplaced = orders.some((item) => orderOf(item) === 'replace');
  const deleted = new Set(orders.filter((item) => orderOf(item) === 'delete').map(identify));
  if (isReplaced) return additions.map(withoutDirectives);
  const merged = new Map<string, unknown>();
  for (const item of before) {
    const identity = identify(item);
    if (!deleted.has(identity)) merged.set(identity, item);
  }
  for (const item of additions) {
    const identity = identify(item);
    const old = merged.get(identity);
    const data = isRecord(item) && isRecord(old) ? mergeObject(old, item, list.within) : withoutDirectives(item);
    merged.set(identity, data);
  }
  if (change.order !== undefined) assertOrder(additions, change.order, identify);
  const order = (change.order ?? additions).map(identify);
  return inOrder(merged, order, before.map(identify));
}

function orderOf(item: unknown): 'replace' | 'delete' {
  const order = isRecord(item) ? ownValue(item, directives.patch) : undefined;
  if (order === 'replace' || order === 'delete') return order;
  throw unknownDirective(order, item);
}

function identityOf(item: unknown, key: string): string {
  const value = isRecord(item) ? ownValue(item, key) : undefined;
  if (value === undefined) {
    throw internal(`map: ${goValue(item)} does not contain declared merge key: ${key}`);
  }
  return canonicalJson(value);
}

/** `$setElementOrder` must name what the patch adds or changes, in the same order. */
function assertOrder(
  additions: readonly unknown[],
  order: readonly unknown[],
  identify: (item: unknown) => string,
): void {
  const named = order.map(identify);
  let next = 0;
  for (const item of additions) {
    const found = named.indexOf(identify(item), next);
    if (found < 0) {
      throw internal(
        `The order in patch list:\n${goValue(additions)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
      );
    }
    next = found + 1;
  }
}

function inOrder(
  merged: ReadonlyMap<string, unknown>,
  order: readonly string[],
  serverOrder: readonly string[],
): readonly unknown[] {
  return arrangeElements([...merged.keys()], order, serverOrder).map((identity) => merged.get(identity));
}

function unknownDirective(directive: unknown, holder: unknown): StatusError {
  return internal(`unknown patch type: ${goValue(directive)} in map: ${goValue(holder)}`);
}

/** kube-apiserver has no reason for these: a bare 500. */
function internal(message: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}
