import { StatusError } from '../status-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { isRecord, type JsonRecord, ownValue } from '../value/record.js';
import { appliedErrors } from './applied-errors.js';
import { compareFields } from './compare.js';
import { conflictError } from './conflict-error.js';
import {
  apiVersionIn,
  type FieldManagerOptions,
  managersOf,
  metadataOf,
  withManagers,
  withoutManagers,
} from './field-manager.js';
import {
  difference,
  emptySet,
  type FieldSet,
  intersection,
  isEmptySet,
  outside,
  setOf,
  union,
  unionOf,
} from './field-set.js';
import type { FieldTypes } from './field-types.js';
import { isSameManager, type Manager, manageable } from './managers.js';
import { mergeApplied } from './merge-applied.js';
import { ownFields } from './own-fields.js';
import { fieldElement } from './path-element.js';
import { abandonedFields, removeFields } from './remove-fields.js';

export interface ApplyOptions extends FieldManagerOptions {
  /** Take fields from other managers instead of failing. */
  readonly force?: boolean;
  /** What was last applied on the client's side: to change that is no conflict. */
  readonly lastApplied?: JsonRecord;
}

/**
 * Server-side apply: `live` with all that `applied` says and without what this manager said before and no longer does,
 * unless others own it; with the managed fields that follow. What is not said is left alone, so that defaulting and
 * validation come after. Gives back `live` itself when nothing changes, the managers included.
 *
 * @param live the object before; `undefined` where the apply creates it.
 * @throws StatusError 409 on a conflict without `force`, naming each field and its manager; 400 and 500 in the words of
 * kube-apiserver when `applied` cannot be applied at all.
 */
export function applyPatch(live: JsonRecord | undefined, applied: JsonRecord, options: ApplyOptions): JsonRecord {
  assertApplicable(applied, options.types);
  const { types, manager, subresource = '' } = options;
  const ignored = setOf((options.ignoredFields ?? []).map((path) => path.map(fieldElement)));
  const self = { manager, operation: 'Apply' as const, apiVersion: apiVersionIn(applied), subresource };
  const managers = live === undefined ? [] : managersBefore(live, options);
  const previous = managers.find((each) => isSameManager(each, self));
  const others = managers.filter((each) => each !== previous);

  const said = outside(ownFields(applied, types), ignored);
  const before = live === undefined ? {} : withoutManagers(live);
  const merged = mergeApplied(before, withoutIgnored(applied, options), types);
  const owned = unionOf([said, ...others.map((each) => each.fields)]);
  const after = removeFields(merged, abandonedFields(previous?.fields ?? emptySet, owned), types);
  const object = isRecord(after) ? after : {};

  const comparison = compareFields(before, object, types);
  const written = outside(union(comparison.modified, comparison.added), ignored);
  const current: Manager = {
    ...self,
    fields: manageable(said),
    time: deepEqual(before, object) ? previous?.time : options.now,
  };
  const { lastApplied, force = false } = options;
  const tolerated = lastApplied === undefined ? emptySet : ownFields(lastApplied, types);
  const remaining = othersAfter(others, { written, removed: comparison.removed, tolerated, isForced: force });
  const result = withManagers(object, [...remaining, current]);
  return live !== undefined && deepEqual(live, result) ? live : result;
}

function assertApplicable(applied: JsonRecord, types: FieldTypes): void {
  const { managedFields, namespace, name } = metadataOf(applied);
  if (managedFields !== undefined && managedFields !== null) {
    throw StatusError.of('BadRequest', 'metadata.managedFields must be nil');
  }
  const errors = appliedErrors(applied, types);
  if (errors.length === 0) return;
  const who = `${namespace ?? ''}/${name ?? ''}; ${groupVersionOf(applied)}, Kind=${ownValue(applied, 'kind') ?? ''}`;
  const what = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
  const message = `failed to create typed patch object (${who}): ${what}`;
  throw new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 });
}

/** As Go prints it: the core group is the empty part before the slash. */
function groupVersionOf(object: JsonRecord): string {
  const apiVersion = apiVersionIn(object);
  return apiVersion.includes('/') ? apiVersion : `/${apiVersion}`;
}

function withoutIgnored(applied: JsonRecord, { ignoredFields = [], types }: ApplyOptions): unknown {
  return removeFields(applied, setOf(ignoredFields.map((path) => path.map(fieldElement))), types) ?? {};
}

/** An object that nobody managed so far is said to be all of one manager's, lest the first apply seem to own it. */
function managersBefore(live: JsonRecord, { types, now }: ApplyOptions): readonly Manager[] {
  const managers = managersOf(live);
  if (managers.length > 0) return managers;
  const fields = manageable(compareFields({}, withoutManagers(live), types).added);
  if (isEmptySet(fields)) return [];
  const apiVersion = apiVersionIn(live);
  return [{ manager: 'before-first-apply', operation: 'Update', apiVersion, subresource: '', time: now, fields }];
}

interface Effect {
  readonly written: FieldSet;
  readonly removed: FieldSet;
  /** Fields of which nobody minds that they are written. */
  readonly tolerated: FieldSet;
  readonly isForced: boolean;
}

function othersAfter(others: readonly Manager[], effect: Effect): readonly Manager[] {
  const { written, removed, tolerated, isForced } = effect;
  const conflicts = others
    .map((manager) => ({ manager, fields: difference(intersection(manager.fields, written), tolerated) }))
    .filter(({ fields }) => !isEmptySet(fields));
  if (conflicts.length > 0 && !isForced) throw conflictError(conflicts);
  return others.map((each) => ({ ...each, fields: difference(each.fields, union(written, removed)) }));
}
