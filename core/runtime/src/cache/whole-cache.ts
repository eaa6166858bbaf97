import { type ResourceType, resourceName } from '@castellan/machinery';
import { cacheName, cachePartOf } from './cached-type.js';

/** There may be very many of them, or they may be large, in any cluster; and few controllers need all of all. */
const numerous: ReadonlySet<string> = new Set(['pods', 'configmaps', 'secrets']);

/** Throws when a cache of `type` would hold every object of a cluster in full, of a type of which there may be very many. */
export function assertBounded(type: ResourceType): void {
  const { paths, metadataOnly, labelSelector, fieldSelector, namespaces, wholeCache } = cachePartOf(type);
  const isPart = [paths, metadataOnly, labelSelector, fieldSelector, namespaces].some((part) => part !== undefined);
  if (isPart || wholeCache === true || type.group !== '' || !numerous.has(type.plural)) return;
  const name = resourceName(type);
  throw new Error(
    `${cacheName(type)} would be cached whole: every object of the cluster, in full. Say which part is needed: ` +
      `some fields of each, pick(${name}, ['status.phase']) or metadataOf(${name}); ` +
      `some of them, cached(${name}, { labelSelector: 'app=web' }), with fieldSelector or namespaces likewise, or a namespace for the manager; ` +
      `or, when it has to be all of it, cached(${name}, { wholeCache: true }), or wholeCache for the manager`,
  );
}
