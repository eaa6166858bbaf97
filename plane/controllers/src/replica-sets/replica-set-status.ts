import { deepEqual, labelSelectorOf, matchesLabels, type Pod, type ReplicaSet } from '@castellan/machinery';
import { apiTime } from '../workloads/api-time.js';
import { isActive, isAvailable, isReady, isTerminating } from '../workloads/pod-state.js';

type ReplicaSetStatus = NonNullable<ReplicaSet['status']>;
type ReplicaSetCondition = NonNullable<ReplicaSetStatus['conditions']>[number];

/** Why there are not as many pods as there should be: what the server said, and which way it went wrong. */
export interface ReplicaFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

/** The status of a ReplicaSet with these pods. Counts of 0 are left out, as Go leaves them out, but for `replicas`. */
export function replicaSetStatus(
  replicaSet: ReplicaSet,
  pods: readonly Pod[],
  failure: ReplicaFailure | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const { spec, status, metadata } = replicaSet;
  const { minReadySeconds = 0, template } = spec ?? {};
  const active = pods.filter(isActive);
  const templateLabels = labelSelectorOf({ matchLabels: template?.metadata?.labels ?? {} });
  const fullyLabeled = active.filter((pod) => matchesLabels(templateLabels, pod.metadata.labels)).length;
  const ready = active.filter(isReady).length;
  const available = active.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length;
  const conditions = withFailure(status?.conditions ?? [], failure, nowMs);
  return {
    replicas: active.length,
    ...(fullyLabeled > 0 && { fullyLabeledReplicas: fullyLabeled }),
    ...(ready > 0 && { readyReplicas: ready }),
    ...(available > 0 && { availableReplicas: available }),
    terminatingReplicas: pods.filter(isTerminating).length,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** A failure that lasts is said once: what went wrong first is the reason to look at. */
function withFailure(
  conditions: readonly ReplicaSetCondition[],
  failure: ReplicaFailure | undefined,
  nowMs: number,
): readonly ReplicaSetCondition[] {
  const others = conditions.filter(({ type }) => type !== 'ReplicaFailure');
  if (failure === undefined) return others;
  if (!deepEqual(others, conditions)) return conditions;
  const lastTransitionTime = apiTime(nowMs);
  return [...others, { type: 'ReplicaFailure', status: 'True', lastTransitionTime, ...failure }];
}
