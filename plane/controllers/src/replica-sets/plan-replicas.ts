import type { Pod, ReplicaSet } from '@castellan/machinery';
import { isActive } from '../workloads/pod-state.js';
import { inDeletionOrder } from './deletion-order.js';

/** So many pods are made or deleted at most in one pass. */
const mostAtOnce = 500;

export interface ReplicaChanges {
  readonly create: number;
  readonly delete: readonly Pod[];
}

/**
 * What is to be done so that there are as many pods as the ReplicaSet wants. `pods` are its own; `related` those of all
 * ReplicaSets with the same owner. One that is being deleted does nothing: its pods are the garbage collector's.
 */
export function planReplicas(
  { metadata, spec }: ReplicaSet,
  pods: readonly Pod[],
  related: readonly Pod[],
  nowMs: number,
): ReplicaChanges {
  if (metadata.deletionTimestamp !== undefined) return { create: 0, delete: [] };
  const active = pods.filter(isActive);
  const missing = (spec?.replicas ?? 1) - active.length;
  if (missing >= 0) return { create: Math.min(missing, mostAtOnce), delete: [] };
  const tooMany = Math.min(-missing, mostAtOnce);
  return { create: 0, delete: inDeletionOrder(active, related.filter(isActive), nowMs).slice(0, tooMany) };
}
