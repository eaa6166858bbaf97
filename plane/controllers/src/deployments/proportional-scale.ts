import type { Deployment, ReplicaSet } from '@castellan/machinery';
import { desiredReplicasOf, maxReplicasOf, sizeAnnotations } from './replica-set-annotations.js';
import { rollingLimits } from './rolling-limits.js';
import { allOf, availableOf, type RolloutView, sizeOf, sumOf } from './rollout-view.js';

/** Whether the Deployment was given another number of replicas since it sized its ReplicaSets. */
export function isBeingScaled({ spec }: Deployment, view: RolloutView): boolean {
  return allOf(view)
    .filter((each) => sizeOf(each) > 0)
    .some((each) => (desiredReplicasOf(each) ?? spec?.replicas) !== spec?.replicas);
}

/**
 * The ReplicaSets in the sizes that a new number of replicas gives them, without going on with a rollout. When one alone is
 * active, or is rolled out already, it gets them all; in the middle of a rolling update each gets its share, and what
 * rounding leaves goes to the largest. Source: the deployment controller's scale; "Proportional scaling" in Kubernetes'
 * page of Deployments.
 */
export function scaled(deployment: Deployment, view: RolloutView): RolloutView {
  const { replicas = 1, strategy } = deployment.spec ?? {};
  const active = allOf(view).filter((each) => sizeOf(each) > 0);
  const only = active.length > 1 ? undefined : (active[0] ?? view.current ?? view.old.at(-1));
  if (only !== undefined) return withSizes(deployment, view, new Map([[only, replicas]]));
  if (view.current !== undefined && isRolledOut(deployment, view.current)) {
    return withSizes(deployment, view, new Map(view.old.map((each) => [each, 0])));
  }
  return strategy?.type === 'Recreate' ? view : withSizes(deployment, view, shares(deployment, active));
}

/** The ReplicaSets that are named, in these sizes, with what the Deployment wanted when it sized them. */
export function withSizes(
  deployment: Deployment,
  { current, old }: RolloutView,
  sizes: ReadonlyMap<ReplicaSet, number>,
): RolloutView {
  const resized = (replicaSet: ReplicaSet): ReplicaSet => {
    const replicas = sizes.get(replicaSet);
    if (replicas === undefined || replicaSet.spec === undefined) return replicaSet;
    const annotations = { ...replicaSet.metadata.annotations, ...sizeAnnotations(deployment) };
    return {
      ...replicaSet,
      metadata: { ...replicaSet.metadata, annotations },
      spec: { ...replicaSet.spec, replicas },
    };
  };
  return { current: current === undefined ? undefined : resized(current), old: old.map(resized) };
}

function isRolledOut({ spec }: Deployment, current: ReplicaSet): boolean {
  const { replicas = 1 } = spec ?? {};
  return sizeOf(current) === replicas && desiredReplicasOf(current) === replicas && availableOf(current) === replicas;
}

function shares(deployment: Deployment, active: readonly ReplicaSet[]): ReadonlyMap<ReplicaSet, number> {
  const { replicas = 1 } = deployment.spec ?? {};
  const most = replicas > 0 ? replicas + rollingLimits(deployment).surge : 0;
  const toAdd = most - sumOf(active, sizeOf);
  // Of equal size the newest grows first, and the oldest shrinks first.
  const bySize = (toAdd > 0 ? active.toReversed() : [...active]).sort((a, b) => sizeOf(b) - sizeOf(a));
  const sizes = new Map<ReplicaSet, number>();
  let added = 0;
  for (const each of bySize) {
    const share = toAdd === 0 ? 0 : shareOf(each, deployment, most, toAdd - added);
    added += share;
    sizes.set(each, sizeOf(each) + share);
  }
  const [largest] = bySize;
  if (largest !== undefined) sizes.set(largest, Math.max(0, (sizes.get(largest) ?? 0) + toAdd - added));
  return sizes;
}

/** At most `left`, which is negative when pods are to go. */
function shareOf(replicaSet: ReplicaSet, { spec, status }: Deployment, most: number, left: number): number {
  const size = sizeOf(replicaSet);
  const mostBefore = maxReplicasOf(replicaSet) || status?.replicas || 0;
  let share = 0;
  if (spec?.replicas === 0) share = -size;
  else if (mostBefore > 0) share = Math.round((size * most) / mostBefore) - size;
  return left > 0 ? Math.min(share, left) : Math.max(share, left);
}
