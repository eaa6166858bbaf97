import type { KubernetesObject, ObjectMeta, ResourceType } from '@castellan/machinery';
import { resourceName } from '@castellan/machinery';
import type { CheckedPath, Picked } from './field-path.js';

/** Which objects of a type a cache holds, and which part of each. A type without one is cached whole. */
export interface CachePart {
  /** Fields that are kept, as `status.conditions` or `spec.containers[].image`; all when absent. */
  readonly paths?: readonly string[];
  /** Only metadata is asked of the server (PartialObjectMetadata). */
  readonly metadataOnly?: boolean;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Only these; each is a watch of its own. Cluster-scoped types have none. */
  readonly namespaces?: readonly string[];
  /** Says aloud that all objects of the cluster are to be held in full, where that is refused otherwise. */
  readonly wholeCache?: boolean;
}

/** A type that says how it is cached. It goes wherever a ResourceType goes. */
export interface CachedType<T extends KubernetesObject = KubernetesObject> extends ResourceType<T> {
  readonly cachePart: CachePart;
}

/** All that a `metadataOf` type has. */
export interface MetadataObject extends KubernetesObject {
  readonly metadata: Omit<ObjectMeta, 'managedFields'>;
}

/**
 * `type` with only the named fields in memory and in its TypeScript type: what was not picked is cut off before it is
 * stored and before a handler sees it. `apiVersion`, `kind` and the identity in `metadata` (name, uid, labels, owners,
 * finalizers, timestamps) are always there. It has a cache of its own, read with this type:
 *
 *     const podStates = pick(pods, ['status.conditions', 'spec.containers[].image']);
 *     cache.get(podStates, key)?.status?.conditions
 */
export function pick<T extends KubernetesObject, const Paths extends readonly string[]>(
  type: ResourceType<T>,
  paths: { readonly [At in keyof Paths]: CheckedPath<T, Paths[At]> },
): CachedType<Picked<T, Paths[number]>> {
  const malformed = paths.find((path) => !/^[^.[\]]+(\[\])?(\.[^.[\]]+(\[\])?)*$/.test(path) || path.endsWith('[]'));
  if (malformed !== undefined) {
    throw new Error(
      `pick(${resourceName(type)}): ${JSON.stringify(malformed)} is not a path of fields: ` +
        'write it as "status.conditions", or "spec.containers[].image" for a field of each item',
    );
  }
  const { metadataOnly: _, ...part } = cachePartOf(type);
  return withPart(type, { ...part, paths: [...new Set<string>(paths)].sort() });
}

/**
 * `type` with nothing but its metadata: the server sends PartialObjectMetadata, so what the objects hold is neither
 * transferred nor kept. `managedFields` are left out. It has a cache of its own.
 */
export function metadataOf(type: ResourceType): CachedType<MetadataObject> {
  const { paths: _, ...part } = cachePartOf(type);
  return withPart(type, { ...part, metadataOnly: true });
}

/**
 * `type` with some of its objects only, by selector or namespaces, in a cache of its own; or, with `wholeCache: true`, the
 * same as `type`, said aloud: a manager refuses to hold all Pods, ConfigMaps or Secrets of a cluster otherwise.
 */
export function cached<T extends KubernetesObject>(
  type: ResourceType<T>,
  part: Pick<CachePart, 'labelSelector' | 'fieldSelector' | 'namespaces' | 'wholeCache'>,
): CachedType<T> {
  if (part.namespaces !== undefined && !type.isNamespaced) {
    throw new Error(`cached(${resourceName(type)}): its objects are in no namespace: leave namespaces out`);
  }
  return withPart(type, { ...cachePartOf(type), ...part });
}

export function cachePartOf(type: ResourceType): CachePart {
  return isCachedType(type) ? type.cachePart : {};
}

/** Names the cache that a type is read from: two types of one name share it. */
export function cacheName(type: ResourceType): string {
  const { paths, metadataOnly, labelSelector, fieldSelector, namespaces } = cachePartOf(type);
  const parts = [
    metadataOnly === true ? 'metadata' : paths?.join(', '),
    labelSelector,
    fieldSelector,
    namespaces === undefined ? undefined : `in ${[...namespaces].sort().join(', ')}`,
  ].filter((part) => part !== undefined);
  const name = `${resourceName(type)}/${type.version}`;
  return parts.length === 0 ? name : `${name} (${parts.join('; ')})`;
}

function isCachedType(type: ResourceType): type is CachedType {
  return 'cachePart' in type;
}

function withPart<T extends KubernetesObject>(type: ResourceType, cachePart: CachePart): CachedType<T> {
  const { group, version, kind, plural, isNamespaced } = type;
  return { group, version, kind, plural, isNamespaced, cachePart };
}
