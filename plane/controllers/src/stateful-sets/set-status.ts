import type { Pod, StatefulSet } from '@castellan/machinery';
import { isAvailable, isReady } from '../workloads/pod-state.js';
import { revisionOf } from './pod-identity.js';
import type { SetView } from './set-view.js';

export type SetStatus = NonNullable<StatefulSet['status']>;

export interface SetRevisions {
  readonly current: string;
  readonly update: string;
  readonly collisionCount: number;
}

/** What a set's status says of its pods; counts of 0 that Go leaves out are left out. An update ends here: when every pod is of the update's revision and ready, that is the current one. */
export function setStatus(
  set: StatefulSet,
  view: SetView,
  pods: readonly Pod[],
  { current, update, collisionCount }: SetRevisions,
  nowMs: number,
): SetStatus {
  const ready = pods.filter((pod) => pod.status?.phase === 'Running' && isReady(pod));
  const staying = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const countOf = (revision: string) => staying.filter((pod) => revisionOf(pod) === revision).length;
  const updated = countOf(update);
  const isUpdated =
    view.update.kind === 'rolling' && [updated, ready.length, pods.length].every((count) => count === view.replicas);
  const ofCurrent = isUpdated ? updated : countOf(current);
  const { generation } = set.metadata;
  return {
    ...(set.status?.conditions !== undefined && { conditions: set.status.conditions }),
    ...(generation !== undefined && { observedGeneration: generation }),
    replicas: pods.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, view.minReadySeconds, nowMs)).length,
    ...(ready.length > 0 && { readyReplicas: ready.length }),
    ...(ofCurrent > 0 && { currentReplicas: ofCurrent }),
    ...(updated > 0 && { updatedReplicas: updated }),
    currentRevision: isUpdated ? update : current,
    updateRevision: update,
    collisionCount,
  };
}
