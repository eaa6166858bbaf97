import { apiVersionOf, type KubernetesObject, type ResourceType } from '@castellan/machinery';
import { cachePartOf } from './cached-type.js';
import { identityFields } from './field-path.js';

/** Cuts off what a type does not keep. What remains is shared with the object that came in. */
export type Trim<T extends KubernetesObject> = (object: T) => T;

/** `true`: all that is there. A list is entered, item by item. */
type Kept = true | { readonly [field: string]: Kept };

/** What is to be done with objects that come in for the cache of `type`; `undefined` when they are kept as they are. */
export function trimOf<T extends KubernetesObject>(type: ResourceType<T>): Trim<T> | undefined {
  const { paths, metadataOnly } = cachePartOf(type);
  if (metadataOnly === true) {
    // The kind that came is PartialObjectMetadata: whose metadata it is, is known here only.
    const itsType = { apiVersion: apiVersionOf(type), kind: type.kind };
    return ({ metadata: { managedFields: _, ...metadata } }) => ({ ...itsType, metadata }) as unknown as T;
  }
  if (paths === undefined) return undefined;
  const identity = identityFields.map((field) => `metadata.${field}`);
  const kept = keptOf(['apiVersion', 'kind', ...identity, ...paths]);
  return (object) => trimmed(object, kept) as T;
}

function keptOf(paths: readonly string[]): Kept {
  const below = new Map<string, string[]>();
  for (const path of paths) {
    const dot = path.indexOf('.');
    const field = (dot < 0 ? path : path.slice(0, dot)).replace(/\[\]$/, '');
    const rest = below.get(field) ?? [];
    below.set(field, rest);
    rest.push(dot < 0 ? '' : path.slice(dot + 1));
  }
  return Object.fromEntries([...below].map(([field, rest]) => [field, rest.includes('') || keptOf(rest)]));
}

function trimmed(value: unknown, kept: Kept): unknown {
  if (kept === true || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => trimmed(item, kept));
  const result: Record<string, unknown> = {};
  for (const [field, below] of Object.entries(kept)) {
    const inner: unknown = Reflect.get(value, field);
    if (inner !== undefined) result[field] = trimmed(inner, below);
  }
  return result;
}
