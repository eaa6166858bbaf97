import { deepEqual, findCondition, type Job, type JobCondition, type JobStatus, type Pod } from '@castellan/machinery';
import type { EventNote } from '@castellan/runtime';
import { apiTime } from '../workloads/api-time.js';
import { isReady } from '../workloads/pod-state.js';
import { judgeFailure } from './failure-policy.js';
import { IndexSet } from './index-set.js';
import { completionOf, type JobOutcome } from './job-outcome.js';
import { completionIndexOf, hasFailed, hasSucceeded, isIndexed, isTracked } from './job-pods.js';
import type { JobView } from './job-view.js';
import { awaitingReplacement } from './plan-pods.js';

export interface StatusPlan {
  readonly status: JobStatus;
  readonly isChanged: boolean;
  /** Pods that may lose the tracking finalizer once the status is stored. */
  readonly releases: readonly Pod[];
  /** To be told once the status is stored. */
  readonly events: readonly EventNote[];
}

/** The uids of so many pods are uncounted at once, so that the status stays small. */
const mostUncounted = 500;

/** What is to be stored of a Job as it is, and which of its pods need not be held after that. */
export function planStatus(view: JobView, decided: JobOutcome | undefined, nowMs: number): StatusPlan {
  const now = apiTime(nowMs);
  const { job, spec } = view;
  const outcome = decided ?? completionOf(view);
  const counted = countedStatus(view, outcome);
  const isLeft = counted.releases.length + counted.uncounted + view.terminating.length + view.active.length > 0;
  const before = job.status ?? {};
  const ending = outcome === undefined ? undefined : endConditions(before.conditions ?? [], outcome, isLeft, now);
  const isEnding = outcome !== undefined || job.metadata.deletionTimestamp !== undefined;
  const pause = isEnding ? undefined : pauseCondition(before.conditions ?? [], spec.suspend === true, now);
  const isFirst = before.startTime === undefined && spec.suspend !== true;
  const startTime = isFirst || pause?.isResumed === true ? now : before.startTime;
  const conditions = ending?.conditions ?? pause?.conditions ?? before.conditions;
  const status: JobStatus = {
    ...(startTime === undefined ? {} : { startTime }),
    ...(ending?.isComplete === true ? { completionTime: now } : {}),
    ...(conditions === undefined ? {} : { conditions }),
    ...counted.status,
    // A number of none is absent as stored.
    ...(view.active.length === 0 ? {} : { active: view.active.length }),
    ready: view.active.filter(isReady).length,
    terminating: view.terminating.length,
  };
  return {
    status,
    isChanged: !deepEqual(before, status),
    releases: counted.releases,
    events: [...(ending?.isFinal === true ? endEvents(job, status, outcome) : []), ...(pause?.events ?? [])],
  };
}

/** Moves what is told of pods one step on: uncounted ones whose finalizer is gone are counted, ended ones become uncounted. */
function countedStatus(view: JobView, outcome: JobOutcome | undefined) {
  const { job, pods } = view;
  const { uncountedTerminatedPods: told = {}, succeeded = 0, failed = 0 } = job.status ?? {};
  const tracked = new Set(pods.filter(isTracked).map(({ metadata }) => metadata.uid ?? ''));
  const next = {
    succeeded: (told.succeeded ?? []).filter((uid) => tracked.has(uid)),
    failed: (told.failed ?? []).filter((uid) => tracked.has(uid)),
  };
  const counts = {
    succeeded: succeeded + (told.succeeded ?? []).length - next.succeeded.length,
    failed: failed + (told.failed ?? []).length - next.failed.length,
  };
  const releases: Pod[] = [];
  const indexes: number[] = [];
  const held = new Set(awaitingReplacement(view).values());
  for (const pod of pods.filter((each) => isTracked(each) && isReleasable(each, view, outcome, held))) {
    if (indexes.length + next.succeeded.length + next.failed.length >= mostUncounted) break;
    releases.push(pod);
    const index = completionIndexOf(pod, job);
    if (view.isUncounted(pod) || (isIndexed(job) && index === undefined)) continue;
    if (!hasSucceeded(pod)) {
      if (countsAsFailed(pod, view, outcome)) next.failed.push(pod.metadata.uid ?? '');
    } else if (index === undefined) next.succeeded.push(pod.metadata.uid ?? '');
    else indexes.push(index);
  }
  const uncounted = {
    ...(next.succeeded.length === 0 ? {} : { succeeded: next.succeeded }),
    ...(next.failed.length === 0 ? {} : { failed: next.failed }),
  };
  return {
    status: { ...numbers(counts), ...indexStatus(view, indexes), uncountedTerminatedPods: uncounted },
    uncounted: next.succeeded.length + next.failed.length,
    releases,
  };
}

function isReleasable(pod: Pod, { job }: JobView, outcome: JobOutcome | undefined, held: ReadonlySet<Pod>): boolean {
  if (job.metadata.deletionTimestamp !== undefined || hasSucceeded(pod)) return true;
  // Pods that run when the outcome becomes known are deleted first, in the pass after it is told.
  if (outcome !== undefined) return pod.metadata.deletionTimestamp !== undefined || hasFailed(pod, job);
  return hasFailed(pod, job) && !held.has(pod);
}

/** When a Job fails, what still ran has failed; when it succeeds, that counts as nothing. */
function countsAsFailed(pod: Pod, { job, spec }: JobView, outcome: JobOutcome | undefined): boolean {
  const hasEnded = pod.status?.phase === 'Failed';
  const isFailure = outcome === undefined ? hasFailed(pod, job) : hasEnded || outcome.interim === 'FailureTarget';
  return isFailure && judgeFailure(spec.podFailurePolicy, pod).isCounted;
}

/** A count of none is absent until there has been one. */
function numbers({ succeeded, failed }: { readonly succeeded: number; readonly failed: number }) {
  return { ...(succeeded === 0 ? {} : { succeeded }), ...(failed === 0 ? {} : { failed }) };
}

function indexStatus({ job, spec, failedIndexes }: JobView, added: readonly number[]) {
  if (!isIndexed(job)) return {};
  const told = IndexSet.parse(job.status?.completedIndexes, spec.completions ?? 0);
  const completed = told.union(IndexSet.of(added));
  return {
    ...(completed.size === 0 ? {} : { completedIndexes: completed.toString() }),
    ...(completed.size === 0 ? {} : { succeeded: completed.size }),
    ...(failedIndexes === undefined ? {} : { failedIndexes: failedIndexes.toString() }),
  };
}

/** The interim condition first; the final one when that is told and nothing is left to count or to end. */
function endConditions(conditions: readonly JobCondition[], outcome: JobOutcome, isLeft: boolean, now: string) {
  const { interim, reason, message, isTold } = outcome;
  if (!isTold)
    return { conditions: withCondition(conditions, { type: interim, reason, message }, now), isFinal: false };
  if (isLeft) return undefined;
  const type = interim === 'FailureTarget' ? 'Failed' : 'Complete';
  const final = withCondition(conditions, { type, reason, message }, now);
  return { conditions: final, isFinal: true, isComplete: type === 'Complete' };
}

/** A Job that was never suspended says nothing of it. */
function pauseCondition(conditions: readonly JobCondition[], isSuspended: boolean, now: string) {
  const isTold = findCondition(conditions, 'Suspended')?.status === 'True';
  if (isTold === isSuspended) return undefined;
  const [status, verb] = isSuspended ? ['True', 'suspended'] : ['False', 'resumed'];
  const [reason, message] = [isSuspended ? 'JobSuspended' : 'JobResumed', `Job ${verb}`];
  const note: EventNote = { type: 'Normal', reason: isSuspended ? 'Suspended' : 'Resumed', message };
  return {
    conditions: withCondition(conditions, { type: 'Suspended', status, reason, message }, now),
    events: [note],
    isResumed: !isSuspended,
  };
}

function withCondition(
  conditions: readonly JobCondition[],
  condition: Omit<JobCondition, 'status'> & { readonly status?: string },
  now: string,
): readonly JobCondition[] {
  const next = { status: 'True', ...condition, lastProbeTime: now, lastTransitionTime: now };
  const isKnown = conditions.some(({ type }) => type === condition.type);
  return isKnown ? conditions.map((each) => (each.type === condition.type ? next : each)) : [...conditions, next];
}

function endEvents({ spec }: Job, status: JobStatus, outcome: JobOutcome | undefined): readonly EventNote[] {
  if (outcome?.interim === 'FailureTarget') {
    return [{ type: 'Warning', reason: outcome.reason, message: outcome.message }];
  }
  const isTooMuch = spec?.completions !== undefined && (status.succeeded ?? 0) > spec.completions;
  const message = 'Too many succeeded pods running after completion count reached';
  return [
    ...(isTooMuch ? [{ type: 'Warning', reason: 'TooManySucceededPods', message } as const] : []),
    { type: 'Normal', reason: 'Completed', message: 'Job completed' },
  ];
}
