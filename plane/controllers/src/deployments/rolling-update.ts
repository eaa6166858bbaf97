import type { Deployment, ReplicaSet } from '@castellan/machinery';
import { withSizes } from './proportional-scale.js';
import { rollingLimits } from './rolling-limits.js';
import { allOf, availableOf, type RolloutView, sizeOf, sumOf } from './rollout-view.js';

/** How large the current ReplicaSet may be now, when the others stay as they are. */
export function nextSize(deployment: Deployment, view: RolloutView): number {
  const { replicas = 1, strategy } = deployment.spec ?? {};
  const size = view.current === undefined ? 0 : sizeOf(view.current);
  if (size >= replicas || strategy?.type === 'Recreate') return replicas;
  const room = replicas + rollingLimits(deployment).surge - sumOf(allOf(view), sizeOf);
  return size + Math.max(0, Math.min(room, replicas - size));
}

/**
 * The old ReplicaSets made smaller, as far as enough pods stay available: first by pods that are not available anyhow, then,
 * from the oldest on, by others. Source: reconcileOldReplicaSets of upstream's deployment controller.
 */
export function shrunk(deployment: Deployment, view: RolloutView): RolloutView {
  const { replicas = 1 } = deployment.spec ?? {};
  const { current, old } = view;
  if (sumOf(old, sizeOf) === 0) return view;
  const least = replicas - rollingLimits(deployment).unavailable;
  const unavailable = current === undefined ? 0 : sizeOf(current) - availableOf(current);
  const mostToGo = sumOf(allOf(view), sizeOf) - least - unavailable;
  if (mostToGo <= 0) return view;
  const cleaned = withoutPods(deployment, view, mostToGo, (each) => sizeOf(each) - availableOf(each));
  return withoutPods(deployment, cleaned, sumOf(allOf(cleaned), availableOf) - least, sizeOf);
}

/** Takes up to `count` pods from the old ReplicaSets, the oldest first, and of each not more than `mostOf` says. */
function withoutPods(
  deployment: Deployment,
  view: RolloutView,
  count: number,
  mostOf: (replicaSet: ReplicaSet) => number,
): RolloutView {
  const sizes = new Map<ReplicaSet, number>();
  let left = count;
  for (const each of view.old) {
    const taken = Math.min(left, mostOf(each), sizeOf(each));
    if (taken <= 0) continue;
    left -= taken;
    sizes.set(each, sizeOf(each) - taken);
  }
  return withSizes(deployment, view, sizes);
}
