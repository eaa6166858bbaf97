import type { Deployment } from '@castellan/machinery';
import {
  type CurrentNews,
  type DeploymentStatus,
  withCondition,
  withFailure,
  withNews,
  withPause,
  withProgress,
} from './deployment-conditions.js';
import { rollingLimits } from './rolling-limits.js';
import { allOf, availableOf, type RolloutView, sizeOf, sumOf } from './rollout-view.js';

export interface StatusFacts {
  readonly view: RolloutView;
  readonly news: CurrentNews | undefined;
  readonly collisionCount: number | undefined;
  readonly isHeld: boolean;
}

/** The status of a Deployment whose ReplicaSets are so. Counts of 0 are left out, as Go leaves them out. */
export function deploymentStatus(deployment: Deployment, facts: StatusFacts, nowMs: number): DeploymentStatus {
  const { view, news, collisionCount, isHeld } = facts;
  const counts = countsOf(view);
  const { generation } = deployment.metadata;
  const said = withNews(deployment, withPause(deployment, deployment.status?.conditions ?? [], nowMs), news, nowMs);
  const status: DeploymentStatus = {
    ...(generation !== undefined && { observedGeneration: generation }),
    ...counts,
    ...(collisionCount !== undefined && { collisionCount }),
    conditions: withAvailability(deployment, counts.availableReplicas ?? 0, said, nowMs),
  };
  if (isHeld) return status;
  return { ...status, conditions: withFailure(withProgress(deployment, view.current, status, nowMs), view) };
}

function countsOf(view: RolloutView): DeploymentStatus {
  const all = allOf(view);
  const replicas = sumOf(all, ({ status }) => status?.replicas ?? 0);
  const updated = view.current?.status?.replicas ?? 0;
  const ready = sumOf(all, ({ status }) => status?.readyReplicas ?? 0);
  const available = sumOf(all, availableOf);
  const unavailable = sumOf(all, sizeOf) - available;
  return {
    ...(replicas > 0 && { replicas }),
    ...(updated > 0 && { updatedReplicas: updated }),
    ...(ready > 0 && { readyReplicas: ready }),
    ...(available > 0 && { availableReplicas: available }),
    ...(unavailable > 0 && { unavailableReplicas: unavailable }),
    terminatingReplicas: sumOf(all, ({ status }) => status?.terminatingReplicas ?? 0),
  };
}

function withAvailability(
  deployment: Deployment,
  available: number,
  conditions: NonNullable<DeploymentStatus['conditions']>,
  nowMs: number,
) {
  const { replicas = 1 } = deployment.spec ?? {};
  const isEnough = available >= replicas - rollingLimits(deployment).unavailable;
  return withCondition(
    conditions,
    isEnough
      ? ['Available', 'True', 'MinimumReplicasAvailable', 'Deployment has minimum availability.']
      : ['Available', 'False', 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'],
    nowMs,
  );
}
