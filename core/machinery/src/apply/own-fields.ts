import { isList, isRecord } from '../value/record.js';
import { emptySet, type FieldSet, isEmptySet, leaf } from './field-set.js';
import { type FieldTypes, untyped } from './field-types.js';
import { fieldElement, itemIdentity } from './path-element.js';

/** The places that a manager owns who applies this object: its leaves, its list items and the entries of its maps. */
export function ownFields(value: unknown, types: FieldTypes): FieldSet {
  if (isRecord(value) && !types.isAtomicObject) {
    const children = new Map<string, FieldSet>();
    for (const [name, child] of Object.entries(value)) {
      const below = ownFields(child, types.field(name) ?? untyped);
      const isOwn = !types.isDeclared(name) || isEmptySet(below);
      children.set(fieldElement(name), isOwn ? { ...below, isMember: true } : below);
    }
    return { isMember: false, children };
  }
  const identify = isList(value) ? itemIdentity(types) : undefined;
  if (!isList(value) || identify === undefined) return leaf;
  const items = value.map((item) => [identify(item), { ...itemFields(item, types), isMember: true }] as const);
  return { isMember: false, children: new Map(items) };
}

function itemFields(item: unknown, types: FieldTypes): FieldSet {
  const below = ownFields(item, types.items);
  return isRecord(item) ? below : emptySet;
}
