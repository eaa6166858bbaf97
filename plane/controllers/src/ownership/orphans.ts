import { controllerRevisions, type KubernetesObject, pods, type ResourceType, replicaSets } from '@castellan/machinery';
import { type CacheIndex, index } from '@castellan/runtime';
import { controllerOf } from './plan-claims.js';

/** Objects that nobody controls, by namespace: what may be adopted. To be named in `indexes` of a controller that adopts. */
export const orphanPods = orphansOf(pods);
export const orphanRevisions = orphansOf(controllerRevisions);
export const orphanReplicaSets = orphansOf(replicaSets);

function orphansOf<T extends KubernetesObject>(type: ResourceType<T>): CacheIndex<T> {
  return index(type, 'orphans', (object) =>
    controllerOf(object) === undefined ? [object.metadata.namespace ?? ''] : [],
  );
}
