import { deepEqual } from '../value/deep-equal.js';
import { isRecord } from '../value/record.js';

/** One operation of a JSON Patch (RFC 6902), of those that `createJsonPatch` makes. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

/**
 * The JSON Patch that makes `before` into `after`; empty where they are equal. Lists are replaced as a whole: an index is of
 * no use to who reads a patch, and of less where another changes the list too.
 */
export function createJsonPatch(before: unknown, after: unknown): readonly JsonPatchOperation[] {
  return operationsAt('', before, after);
}

function operationsAt(path: string, before: unknown, after: unknown): readonly JsonPatchOperation[] {
  if (deepEqual(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ op: 'replace', path, value: after }];
  const removed = Object.keys(before).filter((name) => !isThere(after, name) && isThere(before, name));
  return [
    ...removed.map((name) => ({ op: 'remove', path: `${path}/${escaped(name)}` }) as const),
    ...Object.keys(after)
      .filter((name) => isThere(after, name))
      .flatMap((name): readonly JsonPatchOperation[] => {
        const at = `${path}/${escaped(name)}`;
        if (!isThere(before, name)) return [{ op: 'add', path: at, value: after[name] }];
        return operationsAt(at, before[name], after[name]);
      }),
  ];
}

/** A member that is undefined is absent from JSON. */
function isThere(record: Readonly<Record<string, unknown>>, name: string): boolean {
  return Object.hasOwn(record, name) && record[name] !== undefined;
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
