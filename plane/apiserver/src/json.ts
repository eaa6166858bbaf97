import type { KubernetesObject } from '@castellan/machinery';

/**
 * Reading JSON whose shape is not known: an object of any kind is plain data here, and what a client sent may lack or
 * mistype any field. A missing or mistyped value reads as empty; validation, not reading, is where it is refused.
 */
export interface JsonRecord {
  readonly [field: string]: unknown;
}

/** An object of any kind with its fields. */
export interface ApiObject extends KubernetesObject {
  readonly [field: string]: unknown;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function record(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function records(value: unknown): readonly JsonRecord[] {
  return list(value).filter(isRecord);
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Of an integer beyond 2^53 (a `bigint`) the next number: near enough for all limits. */
export function count(value: unknown): number | undefined {
  return typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? value : undefined;
}

/** The value at a path of fields; undefined where one is missing. Own fields only, so that `__proto__` is harmless. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const field of path) {
    if (!isRecord(current) || !Object.hasOwn(current, field)) return undefined;
    current = current[field];
  }
  return current;
}

/** A copy with the value at a path of fields set; records on the way are made where they are missing. */
export function withAt(value: unknown, path: readonly string[], leaf: unknown): JsonRecord {
  const [field, ...rest] = path;
  if (field === undefined) return record(leaf);
  const own = record(value);
  const child = Object.hasOwn(own, field) ? own[field] : undefined;
  return { ...own, [field]: rest.length === 0 ? leaf : withAt(child, rest, leaf) };
}

export function without(value: JsonRecord, ...fields: readonly string[]): JsonRecord {
  return Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)));
}

/** Any record with an object's metadata; a record without it gets an empty one. */
export function asApiObject(value: JsonRecord): ApiObject {
  return isApiObject(value) ? value : { ...value, metadata: {} };
}

function isApiObject(value: JsonRecord): value is ApiObject {
  return isRecord(value.metadata);
}
