import { isList, isRecord, ownValue } from '../value/record.js';
import { decodeFields, encodeFields, type FieldSet, isEmptySet, outside, setOf, union } from './field-set.js';

/** One entry of `metadata.managedFields`. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  /** '' for the resource itself. */
  readonly subresource: string;
  /** RFC 3339; absent when what it owns was there before it came. */
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

/** Whether two entries are of the same manager: its fields and time are not part of who it is. */
export function isSameManager(a: Omit<Manager, 'fields' | 'time'>, b: Omit<Manager, 'fields' | 'time'>): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.apiVersion === b.apiVersion &&
    a.subresource === b.subresource
  );
}

/** Reads `metadata.managedFields`; entries that are not understood are left out. */
export function decodeManagers(managedFields: unknown): readonly Manager[] {
  if (!isList(managedFields)) return [];
  return managedFields.flatMap((entry) => {
    if (!isRecord(entry)) return [];
    const operation = ownValue(entry, 'operation');
    if (operation !== 'Apply' && operation !== 'Update') return [];
    const text = (name: string) => {
      const value = ownValue(entry, name);
      return typeof value === 'string' ? value : '';
    };
    return [
      {
        manager: text('manager'),
        operation,
        apiVersion: text('apiVersion'),
        subresource: text('subresource'),
        time: text('time') === '' ? undefined : text('time'),
        fields: decodeFields(ownValue(entry, 'fieldsV1')),
      },
    ];
  });
}

/** The entries of `metadata.managedFields`, appliers first, then by time and name; managers of nothing are left out. */
export function encodeManagers(managers: readonly Manager[]): readonly unknown[] {
  return managers
    .filter((each) => !isEmptySet(each.fields))
    .toSorted((a, b) => compareTexts(sortKey(a), sortKey(b)))
    .map(({ manager, operation, apiVersion, time, fields, subresource }) => ({
      manager,
      operation,
      apiVersion,
      ...(time === undefined ? {} : { time }),
      fieldsType: 'FieldsV1',
      fieldsV1: encodeFields(fields),
      ...(subresource === '' ? {} : { subresource }),
    }));
}

function sortKey(manager: Manager): readonly string[] {
  return [manager.operation, manager.time ?? '', manager.manager, manager.apiVersion, manager.subresource];
}

function compareTexts(a: readonly string[], b: readonly string[]): number {
  for (const [index, text] of a.entries()) {
    const other = b[index] ?? '';
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

/** Fields that the server sets, or that name the object, have no managers. */
const unmanaged: FieldSet = setOf(
  [
    ['apiVersion'],
    ['kind'],
    ['metadata', 'name'],
    ['metadata', 'namespace'],
    ['metadata', 'creationTimestamp'],
    ['metadata', 'selfLink'],
    ['metadata', 'uid'],
    ['metadata', 'generation'],
    ['metadata', 'managedFields'],
    ['metadata', 'resourceVersion'],
  ].map((path) => path.map((name) => `f:${name}`)),
);

/** What of a set may have managers: not the unmanaged fields, nor `metadata` as such. */
export function manageable(fields: FieldSet): FieldSet {
  const kept = outside(fields, unmanaged);
  const metadata = kept.children.get('f:metadata');
  if (metadata === undefined) return kept;
  const children = new Map(kept.children);
  if (metadata.children.size === 0) children.delete('f:metadata');
  else children.set('f:metadata', { ...metadata, isMember: false });
  return { ...kept, children };
}

/** At most this many managers of updates are kept apart; the oldest become one, `ancient-changes`. */
const mostUpdateManagers = 10;
const ancientChanges = 'ancient-changes';

/** Merges the oldest managers of updates, those of one version with one another, until there are few enough. */
export function capManagers(managers: readonly Manager[]): readonly Manager[] {
  if (managers.length <= mostUpdateManagers) return managers;
  const updaters = managers
    .filter((each) => each.operation === 'Update' && each.subresource === '')
    .toSorted((a, b) => compareTexts(sortKey(a), sortKey(b)));
  let excess = managers.filter((each) => each.operation === 'Update').length - mostUpdateManagers;
  const merged = new Map<string, Manager>();
  const gone = new Set<Manager>();
  for (const updater of updaters) {
    if (excess <= 0) break;
    const before = merged.get(updater.apiVersion);
    if (before === undefined) {
      merged.set(updater.apiVersion, updater);
      continue;
    }
    gone.add(before);
    gone.add(updater);
    merged.set(updater.apiVersion, {
      ...updater,
      manager: ancientChanges,
      fields: union(before.fields, updater.fields),
    });
    excess -= 1;
  }
  const ancient = [...merged.values()].filter((each) => each.manager === ancientChanges && !managers.includes(each));
  return [...managers.filter((each) => !gone.has(each)), ...ancient];
}
