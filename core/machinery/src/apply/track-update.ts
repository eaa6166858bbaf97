import { isList, isRecord, type JsonRecord, ownValue } from '../value/record.js';
import { compareFields } from './compare.js';
import {
  apiVersionIn,
  type FieldManagerOptions,
  managersOf,
  metadataOf,
  withManagers,
  withoutManagers,
} from './field-manager.js';
import { difference, emptySet, equalSets, isEmptySet, outside, setOf, unionOf } from './field-set.js';
import { capManagers, isSameManager, type Manager, manageable } from './managers.js';
import { fieldElement } from './path-element.js';

/**
 * `updated` with the managed fields that a create, an update or a patch (not an apply) leaves behind: who writes a
 * field, owns it alone.
 *
 * @param live the object before; `undefined` for a create.
 * @param updated the object that is to be stored. Managed fields in it replace those of `live`, `[{}]` clears them.
 */
export function trackUpdate(live: unknown, updated: JsonRecord, options: FieldManagerOptions): JsonRecord {
  const { types, manager, subresource = '' } = options;
  const before = isRecord(live) ? withoutManagers(live) : {};
  const comparison = compareFields(before, withoutManagers(updated), types);
  const ignored = setOf((options.ignoredFields ?? []).map((path) => path.map(fieldElement)));
  const written = manageable(outside(unionOf([comparison.added, comparison.modified]), ignored));
  const gone = unionOf([comparison.removed, comparison.added, comparison.modified]);
  const self = { manager, operation: 'Update' as const, apiVersion: apiVersionIn(updated), subresource };
  const managers = startingManagers(live, updated, subresource);
  const previous = managers.find((each) => isSameManager(each, self));
  const others = managers
    .filter((each) => each !== previous)
    .map((each) => ({ ...each, fields: difference(each.fields, outside(gone, ignored)) }));
  const kept = difference(previous?.fields ?? emptySet, comparison.removed);
  const fields = unionOf([kept, written]);
  const isUntouched = isEmptySet(written) && equalSets(kept, previous?.fields ?? emptySet);
  const current: Manager = { ...self, fields, time: isUntouched ? previous?.time : options.now };
  return withManagers(updated, capManagers([...others, current].filter((each) => !isEmptySet(each.fields))));
}

function startingManagers(live: unknown, updated: JsonRecord, subresource: string): readonly Manager[] {
  const given = ownValue(metadataOf(updated), 'managedFields');
  // A write of a subresource has no say in who manages what.
  if (subresource !== '' || !isList(given)) return managersOf(live);
  const [only] = given;
  const isReset = given.length === 1 && isRecord(only) && Object.keys(only).length === 0;
  if (isReset) return [];
  const managers = managersOf(updated);
  return managers.length > 0 ? managers : managersOf(live);
}
