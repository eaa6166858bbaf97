import { type KubernetesObject, type ObjectKey, type ResourceType, resourceName } from '@castellan/machinery';
import { cachePartOf } from '../cache/cached-type.js';
import type { Reader } from '../reader.js';

/** What a controller's cache knows of one object. */
export type Known<T extends KubernetesObject> =
  /** All of it; `undefined` where it is certain that there is none. */
  | { readonly kind: 'whole'; readonly object: T | undefined }
  /** Which one it is and in which version, but not all its fields. */
  | { readonly kind: 'part'; readonly object: KubernetesObject }
  | { readonly kind: 'unknown' };

/** Looks in all caches that `types` name: one type may be cached whole, in parts and by selections at once. */
export function knownObject<T extends KubernetesObject>(
  cache: Reader,
  types: readonly ResourceType[],
  type: ResourceType<T>,
  key: ObjectKey,
): Known<T> {
  let part: KubernetesObject | undefined;
  for (const cachedType of types.filter((each) => isSameResource(each, type))) {
    const { namespaces, labelSelector, fieldSelector } = cachePartOf(cachedType);
    if (key.namespace !== undefined && namespaces?.includes(key.namespace) === false) continue;
    if (isTrimmed(cachedType)) {
      part ??= cache.get(cachedType, key);
      continue;
    }
    // The same cache, for the type that was asked for.
    const object = cache.get<T>(
      { ...type, ...('cachePart' in cachedType && { cachePart: cachedType.cachePart }) },
      key,
    );
    const isSelection = labelSelector !== undefined || fieldSelector !== undefined;
    if (object !== undefined || !isSelection) return { kind: 'whole', object };
  }
  return part === undefined ? { kind: 'unknown' } : { kind: 'part', object: part };
}

/** Whether objects of this type have only some of their fields in the cache. */
export function isTrimmed(type: ResourceType): boolean {
  const { paths, metadataOnly } = cachePartOf(type);
  return paths !== undefined || metadataOnly === true;
}

function isSameResource(a: ResourceType, b: ResourceType): boolean {
  return a === b || (resourceName(a) === resourceName(b) && a.version === b.version);
}
