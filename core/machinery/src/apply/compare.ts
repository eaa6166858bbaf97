import { deepEqual } from '../value/deep-equal.js';
import { isList, isRecord, type JsonRecord, ownValue } from '../value/record.js';
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
  compareAt({ before, after, types }, new Place(found));
  return { added: found.added.build(), modified: found.modified.build(), removed: found.removed.build() };
}

/** A place that is looked at, of which a path is made only when something is noted there. */
class Place {
  readonly #found: Readonly<Record<keyof Comparison, FieldSetBuilder>>;
  readonly #parent: Place | undefined;
  readonly #element: string;

  constructor(found: Readonly<Record<keyof Comparison, FieldSetBuilder>>, parent?: Place, element = '') {
    this.#found = found;
    this.#parent = parent;
    this.#element = element;
  }

  get isWhole(): boolean {
    return this.#parent === undefined;
  }

  below(element: string): Place {
    return new Place(this.#found, this, element);
  }

  note(kind: keyof Comparison): void {
    const path: string[] = [];
    for (let place: Place = this; place.#parent !== undefined; place = place.#parent) path.push(place.#element);
    this.#found[kind].insert(path.reverse());
  }
}

interface Pair {
  readonly before: unknown;
  readonly after: unknown;
  readonly types: FieldTypes;
}

function compareAt(pair: Pair, place: Place): void {
  const { before, after } = pair;
  // Patches share what they leave alone.
  if (before === after) return;
  if (before === undefined && !place.isWhole) place.note('added');
  if (after === undefined && !place.isWhole) place.note('removed');
  if (compareParts(pair, place)) return;
  if (before !== undefined && after !== undefined && !deepEqual(before, after)) place.note('modified');
}

const nothing: JsonRecord = {};

/** Compares fields or items one by one; false where the value is to be compared as a whole. */
function compareParts({ before, after, types }: Pair, place: Place): boolean {
  // `null` beside an object or a list has none of its parts.
  const [isWithout, isNone] = [before === undefined || before === null, after === undefined || after === null];
  if (isWithout && isNone) return false;
  const isObject = (isWithout || isRecord(before)) && (isNone || isRecord(after));
  if (isObject && !types.isAtomicObject) {
    const [a, b] = [isRecord(before) ? before : nothing, isRecord(after) ? after : nothing];
    for (const name of Object.keys(a)) compareField(a[name], ownValue(b, name), { name, types, place });
    for (const name of Object.keys(b)) {
      if (!Object.hasOwn(a, name)) compareField(undefined, b[name], { name, types, place });
    }
    return true;
  }
  const isEachList = (isWithout || isList(before)) && (isNone || isList(after));
  const identify = isEachList ? itemIdentity(types) : undefined;
  if (identify === undefined) return false;
  const [a, b] = [itemsOf(before, identify), itemsOf(after, identify)];
  for (const element of new Set([...a.keys(), ...b.keys()])) {
    const [own, other] = [a.get(element) ?? [], b.get(element) ?? []];
    const isTold = own.length <= 1 && other.length <= 1;
    const pair = {
      before: own.length > 1 ? own : own[0],
      after: other.length > 1 ? other : other[0],
      // Items that cannot be told apart are one value together.
      types: isTold ? types.items : wholeValue,
    };
    compareAt(pair, place.below(element));
  }
  return true;
}

function compareField(
  before: unknown,
  after: unknown,
  { name, types, place }: { readonly name: string; readonly types: FieldTypes; readonly place: Place },
): void {
  if (before === after) return;
  compareAt({ before, after, types: types.field(name) ?? untyped }, place.below(fieldElement(name)));
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
