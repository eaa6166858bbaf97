import type { KubernetesObject, ResourceType } from '@castellan/machinery';

/** Finds objects of one cached type by something else than their name. Made by `index`, named by a controller or manager. */
export interface CacheIndex<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType<T>;
  /** Unique among the indexes of one type. */
  readonly name: string;
  /** Under which keys an object is found: none, one or several. It must be pure, and not throw. */
  keys(object: T): readonly string[];
}

/**
 * An index of a cache, to name in `indexes` of a controller or of the manager and to read with `cache.byIndex`:
 *
 *     const podsByNode = index(pods, 'node', (pod) => [pod.spec?.nodeName ?? '']);
 *     cache.byIndex(podsByNode, 'node-1')
 */
export function index<T extends KubernetesObject>(
  type: ResourceType<T>,
  name: string,
  keys: (object: T) => readonly string[],
): CacheIndex<T> {
  return { type, name, keys };
}
