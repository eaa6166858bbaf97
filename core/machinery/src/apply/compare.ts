import { deepEqual } from '../value/deep-equal.js';
import { isList, isRecord, ownValue } from '../value/record.js';
import { type FieldSet, FieldSetBuilder } from './field-set.js';
import { type FieldTypes, untyped } from './field-types.js';
import { fieldElement, itemIdentity } from './path-element.js';

export interface Comparison {
  readonly added: FieldSet;
  readonly modified: FieldSet;
  readonly removed: FieldSet;
}

/** What changed between two states of an object. All that is within a thing that came or went has come or gone too. */
export function compareFields(before: unknown, after: unknown, types: FieldTypes): Comparison {
  const found = { added: new FieldSetBuilder(), modified: new FieldSetBuilder(), removed: new FieldSetBuilder() };
  compareAt({ before, after, types, path: [] }, (kind, path) => found[kind].insert(path));
  return { added: found.added.build(), modified: found.modified.build(), removed: found.removed.build() };
}

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
  readonly types: FieldTypes;
  readonly path: readonly string[];
}

function compareAt(pair: Pair, note: (kind: keyof Comparison, path: readonly string[]) => void): void {
  const { before, after, path } = pair;
  // Patches share what they leave alone.
  if (before === after) return;
  if (before === undefined && path.length > 0) note('added', path);
  if (after === undefined && path.length > 0) note('removed', path);
  const parts = partsOf(pair);
  if (parts !== undefined) {
    for (const part of parts) compareAt(part, note);
  } else if (before !== undefined && after !== undefined && !deepEqual(before, after)) note('modified', path);
}

/** The fields or items that are compared one by one; `undefined` where the value is compared as a whole. */
function partsOf({ before, after, types, path }: Pair): readonly Pair[] | undefined {
  // `null` beside an object or a list has none of its parts.
  const both = [before, after].filter((value) => value !== undefined && value !== null);
  if (both.length === 0) return undefined;
  if (both.every(isRecord) && !types.isAtomicObject) {
    const [a, b] = [isRecord(before) ? before : {}, isRecord(after) ? after : {}];
    const names = new Set([...Object.keys(a), ...Object.keys(b)]);
    return [...names].map((name) => ({
      before: ownValue(a, name),
      after: ownValue(b, name),
      types: types.field(name) ?? untyped,
      path: [...path, fieldElement(name)],
    }));
  }
  const identify = itemIdentity(types);
  if (identify === undefined || !both.every(isList)) return undefined;
  const [a, b] = [itemsOf(before, identify), itemsOf(after, identify)];
  return [...new Set([...a.keys(), ...b.keys()])].map((element) => {
    const [own, other] = [a.get(element) ?? [], b.get(element) ?? []];
    const isTold = own.length <= 1 && other.length <= 1;
    return {
      before: own.length > 1 ? own : own[0],
      after: other.length > 1 ? other : other[0],
      // Items that cannot be told apart are one value together.
      types: isTold ? types.items : wholeValue,
      path: [...path, element],
    };
  });
}

const wholeValue: FieldTypes = { ...untyped, isAtomicObject: true };

function itemsOf(value: unknown, identify: (item: unknown) => string): ReadonlyMap<string, readonly unknown[]> {
  const items = new Map<string, unknown[]>();
  for (const item of isList(value) ? value : []) {
    const element = identify(item);
    const known = items.get(element);
    if (known === undefined) items.set(element, [item]);
    else known.push(item);
  }
  return items;
}
