import { type JsonRecord, records } from '../json.js';

interface PlacedContainer {
  readonly container: JsonRecord;
  readonly path: string;
}

/** In the order in which upstream visits them. */
const lists = ['initContainers', 'containers', 'ephemeralContainers'] as const;

/** All containers of a pod's spec, each with its path below that of the spec. */
export function containersOf(spec: JsonRecord, path: string): readonly PlacedContainer[] {
  return lists.flatMap((field) =>
    records(spec[field]).map((container, index) => ({ container, path: `${path}.${field}[${index}]` })),
  );
}

/** The spec with each of its containers changed. */
export function withContainers(spec: JsonRecord, change: (container: JsonRecord) => JsonRecord): JsonRecord {
  const changed = lists
    .filter((field) => Array.isArray(spec[field]))
    .map((field) => [field, records(spec[field]).map(change)] as const);
  return { ...spec, ...Object.fromEntries(changed) };
}
