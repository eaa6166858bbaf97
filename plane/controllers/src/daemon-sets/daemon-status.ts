import type { DaemonSet, Node, Pod } from '@castellan/machinery';
import { isAvailable, isReady } from '../workloads/pod-state.js';
import { isUpdated } from './daemon-pod.js';
import { daemonNodes } from './plan-daemons.js';

export interface DaemonStatusFacts {
  readonly nodes: readonly Node[];
  readonly pods: readonly Pod[];
  readonly hash: string;
  readonly collisionCount: number;
  readonly nowMs: number;
}

/** The status of a DaemonSet: of each node its oldest pod counts. Counts that Go leaves out when they are 0 are left out. */
export function daemonStatus(set: DaemonSet, facts: DaemonStatusFacts): NonNullable<DaemonSet['status']> {
  const { nodes, pods, hash, collisionCount, nowMs } = facts;
  const { minReadySeconds = 0 } = set.spec ?? {};
  const places = daemonNodes({ set, nodes, pods });
  const wanted = places.filter(({ shouldRun }) => shouldRun);
  const oldest = wanted.flatMap(({ pods: [pod] }) => (pod === undefined ? [] : [pod]));
  const updated = oldest.filter((pod) => isUpdated(set, pod, hash)).length;
  const available = oldest.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length;
  const unavailable = wanted.length - available;
  const { generation } = set.metadata;
  return {
    currentNumberScheduled: oldest.length,
    numberMisscheduled: places.filter((place) => !place.shouldRun && place.pods.length > 0).length,
    desiredNumberScheduled: wanted.length,
    numberReady: oldest.filter(isReady).length,
    ...(updated > 0 && { updatedNumberScheduled: updated }),
    ...(available > 0 && { numberAvailable: available }),
    ...(unavailable > 0 && { numberUnavailable: unavailable }),
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(collisionCount > 0 && { collisionCount }),
    ...(set.status?.conditions === undefined ? {} : { conditions: set.status.conditions }),
  };
}
