/** A JSON object. Its own keys only count: what comes from outside may have keys such as `__proto__` or `toString`. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As `Array.isArray`, which takes no account of readonly lists. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value at `key`, or `undefined`; never what is inherited. */
export function ownValue(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** A new object of these entries. `Object.fromEntries` defines, so that a key `__proto__` sets no prototype. */
export function recordOf(entries: Iterable<readonly [string, unknown]>): JsonRecord {
  return Object.fromEntries(entries);
}

/** `record` with some keys changed (or, at `undefined`, left out); `record` itself when nothing changes. */
export function withChanges(record: JsonRecord, changes: ReadonlyMap<string, unknown>): JsonRecord {
  if (changes.size === 0) return record;
  const entries: [string, unknown][] = [];
  for (const [key, value] of Object.entries(record)) {
    const next = changes.has(key) ? changes.get(key) : value;
    if (next !== undefined) entries.push([key, next]);
  }
  for (const [key, value] of changes) {
    if (value !== undefined && !Object.hasOwn(record, key)) entries.push([key, value]);
  }
  return recordOf(entries);
}
