import type { Deployment, ReplicaSet } from '@castellan/machinery';
import { apiTime } from '../workloads/api-time.js';
import { isComplete } from './plan-rollout.js';
import type { RolloutView } from './rollout-view.js';

export type DeploymentStatus = NonNullable<Deployment['status']>;
export type DeploymentCondition = NonNullable<DeploymentStatus['conditions']>[number];
type Conditions = readonly DeploymentCondition[];

/** What happened to the ReplicaSet of the present template in this pass. */
export type CurrentNews =
  | { readonly kind: 'found' | 'created'; readonly name: string }
  | { readonly kind: 'refused'; readonly name: string; readonly message: string };

const noDeadline = 2_147_483_647;
const available = 'NewReplicaSetAvailable';
const timedOut = 'ProgressDeadlineExceeded';

/** How long a rollout may make no progress, in milliseconds; `undefined` when for ever. */
function deadlineMs({ spec }: Deployment): number | undefined {
  const { progressDeadlineSeconds: seconds } = spec ?? {};
  return seconds === undefined || seconds === noDeadline ? undefined : seconds * 1_000;
}

function conditionOf(conditions: Conditions | undefined, type: string): DeploymentCondition | undefined {
  return conditions?.find((each) => each.type === type);
}

/** A condition that says the same for the same reason is left as it was, with its times. */
export function withCondition(
  conditions: Conditions,
  [type, status, reason, message]: readonly [string, string, string, string],
  nowMs: number,
): Conditions {
  const before = conditionOf(conditions, type);
  if (before?.status === status && before.reason === reason) return conditions;
  const now = apiTime(nowMs);
  const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
  const condition = { type, status, reason, message, lastUpdateTime: now, lastTransitionTime };
  return [...withoutCondition(conditions, type), condition];
}

function withoutCondition(conditions: Conditions, type: string): Conditions {
  return conditions.filter((each) => each.type !== type);
}

/** The clock of the progress deadline does not run while a Deployment is paused. */
export function withPause(deployment: Deployment, conditions: Conditions, nowMs: number): Conditions {
  const reason = conditionOf(conditions, 'Progressing')?.reason;
  if (deadlineMs(deployment) === undefined || reason === timedOut) return conditions;
  const isSaid = reason === 'DeploymentPaused';
  const isPaused = deployment.spec?.paused === true;
  if (isPaused === isSaid) return conditions;
  const [newReason, message] = isPaused
    ? ['DeploymentPaused', 'Deployment is paused']
    : ['DeploymentResumed', 'Deployment is resumed'];
  return withCondition(conditions, ['Progressing', 'Unknown', newReason, message], nowMs);
}

/** What is known of the ReplicaSet of the present template before any of its pods is. */
export function withNews(
  deployment: Deployment,
  conditions: Conditions,
  news: CurrentNews | undefined,
  nowMs: number,
): Conditions {
  if (news === undefined || deadlineMs(deployment) === undefined) return conditions;
  const name = JSON.stringify(news.name);
  switch (news.kind) {
    case 'found':
      if (conditionOf(conditions, 'Progressing') !== undefined) return conditions;
      return withCondition(
        conditions,
        ['Progressing', 'True', 'FoundNewReplicaSet', `Found new replica set ${name}`],
        nowMs,
      );
    case 'created':
      return withCondition(
        conditions,
        ['Progressing', 'True', 'NewReplicaSetCreated', `Created new replica set ${name}`],
        nowMs,
      );
    case 'refused': {
      const message = `Failed to create new replica set ${name}: ${news.message}`;
      return withCondition(conditions, ['Progressing', 'False', 'ReplicaSetCreateError', message], nowMs);
    }
  }
}

/** Whether the rollout is done, makes progress or has made none for too long. Source: syncRolloutStatus of upstream's deployment controller. */
export function withProgress(
  deployment: Deployment,
  current: ReplicaSet | undefined,
  next: DeploymentStatus,
  nowMs: number,
): Conditions {
  const conditions = next.conditions ?? [];
  const deadline = deadlineMs(deployment);
  if (deadline === undefined) return withoutCondition(conditions, 'Progressing');
  const progressing = conditionOf(conditions, 'Progressing');
  if (next.replicas === next.updatedReplicas && progressing?.reason === available) return conditions;
  const who =
    current === undefined
      ? `Deployment ${JSON.stringify(deployment.metadata.name)}`
      : `ReplicaSet ${JSON.stringify(current.metadata.name)}`;
  if (isComplete({ ...deployment, status: next })) {
    const message = `${who} has successfully progressed.`;
    return withCondition(conditions, ['Progressing', 'True', available, message], nowMs);
  }
  if (hasProgressed(deployment.status ?? {}, next)) {
    return withProgressNow(conditions, progressing, `${who} is progressing.`, nowMs);
  }
  if (isTimedOut(progressing, deadline, nowMs)) {
    const message = `${who} has timed out progressing.`;
    return withCondition(conditions, ['Progressing', 'False', timedOut, message], nowMs);
  }
  return conditions;
}

/** Each step of a rollout starts the deadline anew. */
function withProgressNow(
  conditions: Conditions,
  before: DeploymentCondition | undefined,
  message: string,
  nowMs: number,
): Conditions {
  const now = apiTime(nowMs);
  const lastTransitionTime = before?.status === 'True' ? (before.lastTransitionTime ?? now) : now;
  const said = { type: 'Progressing', status: 'True', reason: 'ReplicaSetUpdated', message };
  return [...withoutCondition(conditions, 'Progressing'), { ...said, lastUpdateTime: now, lastTransitionTime }];
}

/** What keeps pods from being made, as the current ReplicaSet says, or any other that has something to say. */
export function withFailure(conditions: Conditions, { current, old }: RolloutView): Conditions {
  const others = withoutCondition(conditions, 'ReplicaFailure');
  const failureOf = ({ status }: ReplicaSet) => status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
  const failures = [current, ...old].flatMap((each) => (each === undefined ? [] : (failureOf(each) ?? [])));
  const [failure] = failures;
  if (failure === undefined) return others;
  const before = conditionOf(conditions, 'ReplicaFailure');
  if (before?.status === failure.status && before.reason === failure.reason) return conditions;
  const since = failure.lastTransitionTime === undefined ? {} : { lastUpdateTime: failure.lastTransitionTime };
  return [...others, { ...failure, ...since }];
}

/** How long until a rollout that makes no progress is to be looked at; `undefined` when there is nothing to wait for. */
export function stuckInMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const deadline = deadlineMs(deployment);
  const progressing = conditionOf(status.conditions, 'Progressing');
  if (deadline === undefined || progressing === undefined || progressing.reason === timedOut) return undefined;
  if (isComplete({ ...deployment, status }) || progressing.lastUpdateTime === undefined) return undefined;
  // A second more: times of conditions are whole seconds.
  return Math.max(0, Date.parse(progressing.lastUpdateTime) + deadline - nowMs) + 1_000;
}

function hasProgressed(before: DeploymentStatus, next: DeploymentStatus): boolean {
  const oldPods = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus) => replicas - updatedReplicas;
  return (
    (next.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    oldPods(next) < oldPods(before) ||
    (next.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (next.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function isTimedOut(progressing: DeploymentCondition | undefined, deadline: number, nowMs: number): boolean {
  if (progressing === undefined || progressing.reason === available) return false;
  if (progressing.reason === timedOut) return true;
  return progressing.lastUpdateTime !== undefined && Date.parse(progressing.lastUpdateTime) + deadline < nowMs;
}
