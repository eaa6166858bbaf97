import { isList, isRecord, type JsonRecord, recordOf } from '../value/record.js';

/** The keys of a strategic merge patch that are orders, not data. */
export const directives = {
  patch: '$patch',
  retainKeys: '$retainKeys',
  setElementOrder: '$setElementOrder/',
  deleteFromPrimitiveList: '$deleteFromPrimitiveList/',
} as const;

export function isDirective(key: string): boolean {
  return (
    key === directives.patch ||
    key === directives.retainKeys ||
    key.startsWith(directives.setElementOrder) ||
    key.startsWith(directives.deleteFromPrimitiveList)
  );
}

/** What a patch says of a thing that is not there yet: its data without orders, nulls and elements to delete. */
export function withoutDirectives(value: unknown): unknown {
  if (isList(value)) {
    return value.filter((item) => !(isRecord(item) && Object.hasOwn(item, directives.patch))).map(withoutDirectives);
  }
  if (!isRecord(value)) return value;
  return dataOf(value);
}

function dataOf(record: JsonRecord): JsonRecord {
  return recordOf(
    Object.entries(record)
      .filter(([key, value]) => !isDirective(key) && value !== null && value !== undefined)
      .map(([key, value]) => [key, withoutDirectives(value)]),
  );
}
