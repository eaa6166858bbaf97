import { isList, isRecord, type JsonRecord, withChanges } from '../value/record.js';
import type { FieldSet } from './field-set.js';
import { emptySet, isEmptySet, leaf } from './field-set.js';
import { type FieldTypes, untyped } from './field-types.js';
import { fieldElement, itemIdentity } from './path-element.js';

/**
 * What an applier let go of and nobody else has: of the places that it had, those that `owned` has neither itself nor
 * anything below. A place stands for all that is in it, defaults among them.
 */
export function abandonedFields(had: FieldSet, owned: FieldSet): FieldSet {
  const children = new Map<string, FieldSet>();
  for (const [element, child] of had.children) {
    const still = owned.children.get(element);
    const abandoned = still === undefined ? leaf : abandonedFields(child, still);
    if (!isEmptySet(abandoned)) children.set(element, abandoned);
  }
  return children.size === 0 ? emptySet : { isMember: false, children };
}

/** `value` without these places; objects and lists that become empty by it go too (`undefined`). */
export function removeFields(value: unknown, places: FieldSet, types: FieldTypes): unknown {
  if (isEmptySet(places)) return value;
  if (isRecord(value)) return removeFromObject(value, places, types);
  const identify = isList(value) ? itemIdentity(types) : undefined;
  if (!isList(value) || identify === undefined) return value;
  const kept = value.flatMap((item) => {
    const below = places.children.get(identify(item));
    if (below === undefined) return [item];
    return below.isMember ? [] : [removeFields(item, below, types.items)];
  });
  return kept.length === 0 ? undefined : kept;
}

function removeFromObject(record: JsonRecord, places: FieldSet, types: FieldTypes): JsonRecord | undefined {
  const changes = new Map<string, unknown>();
  for (const [name, value] of Object.entries(record)) {
    const below = places.children.get(fieldElement(name));
    if (below === undefined) continue;
    const after = below.isMember ? undefined : removeFields(value, below, types.field(name) ?? untyped);
    if (after !== value) changes.set(name, after);
  }
  const rest = withChanges(record, changes);
  return changes.size > 0 && Object.keys(rest).length === 0 ? undefined : rest;
}
