import { findCondition } from '@castellan/machinery';
import { judgeFailure } from './failure-policy.js';
import { hasFailed, isIndexed } from './job-pods.js';
import type { JobView } from './job-view.js';
import { fulfilledRule } from './success-policy.js';

/** How a Job ends. It is first told by an interim condition, then the pods are ended, and at last the final one is told. */
export interface JobOutcome {
  readonly interim: 'SuccessCriteriaMet' | 'FailureTarget';
  readonly reason: string;
  readonly message: string;
  readonly isTold: boolean;
}

/** Why no more pods are to be made and those that run are to end; `undefined`: the Job goes on. Source: kube-controller-manager's Job controller. */
export function outcomeOf(view: JobView, nowMs: number): JobOutcome | undefined {
  return toldOutcome(view) ?? failure(view, nowMs) ?? indexFailure(view) ?? policySuccess(view);
}

/** All that was asked for has succeeded, and nothing runs any more. */
export function completionOf({ spec, succeeded, active }: JobView): JobOutcome | undefined {
  if (active.length > 0 || succeeded < (spec.completions ?? 1)) return undefined;
  const message = 'Reached expected number of succeeded pods';
  return { interim: 'SuccessCriteriaMet', reason: 'CompletionsReached', message, isTold: false };
}

/** For how long the Job may still run; `undefined`: for ever. */
export function deadlineLeftMs({ spec, job }: JobView, nowMs: number): number | undefined {
  const { startTime } = job.status ?? {};
  if (spec.activeDeadlineSeconds === undefined || startTime === undefined || spec.suspend === true) return undefined;
  return Date.parse(startTime) + spec.activeDeadlineSeconds * 1_000 - nowMs;
}

function toldOutcome({ job }: JobView): JobOutcome | undefined {
  for (const interim of ['SuccessCriteriaMet', 'FailureTarget'] as const) {
    const condition = findCondition(job.status?.conditions, interim);
    if (condition?.status !== 'True') continue;
    return { interim, reason: condition.reason ?? '', message: condition.message ?? '', isTold: true };
  }
  return undefined;
}

function failure(view: JobView, nowMs: number): JobOutcome | undefined {
  const { job, spec, pods } = view;
  for (const pod of pods) {
    const message = hasFailed(pod, job) ? judgeFailure(spec.podFailurePolicy, pod).failsJob : undefined;
    if (message !== undefined) return failed('PodFailurePolicy', message);
  }
  if (view.failed > (spec.backoffLimit ?? 6) || hasTooManyRestarts(view)) {
    return failed('BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  }
  return (deadlineLeftMs(view, nowMs) ?? 1) > 0
    ? undefined
    : failed('DeadlineExceeded', 'Job was active longer than specified deadline');
}

/** Containers that restart in their pod count as failures as well. */
function hasTooManyRestarts({ spec, pods }: JobView): boolean {
  if (spec.template.spec?.restartPolicy !== 'OnFailure') return false;
  const restarts = pods
    .filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending')
    .flatMap(({ status }) => [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])])
    .reduce((sum, { restartCount }) => sum + restartCount, 0);
  return restarts > 0 && restarts >= (spec.backoffLimit ?? 6);
}

function indexFailure({ spec, failedIndexes, succeededIndexes }: JobView): JobOutcome | undefined {
  const failures = failedIndexes?.size ?? 0;
  if (failures === 0) return undefined;
  if (failures > (spec.maxFailedIndexes ?? Number.POSITIVE_INFINITY)) {
    return failed('MaxFailedIndexesExceeded', 'Job has exceeded the specified maximal number of failed indexes');
  }
  const isOver = failures + succeededIndexes.size >= (spec.completions ?? 0);
  return isOver ? failed('FailedIndexes', 'Job has failed indexes') : undefined;
}

function policySuccess({ job, spec, succeededIndexes }: JobView): JobOutcome | undefined {
  if (!isIndexed(job)) return undefined;
  const rule = fulfilledRule(spec.successPolicy, succeededIndexes, spec.completions ?? 0);
  if (rule === undefined) return undefined;
  const message = `Matched rules at index ${rule}`;
  return { interim: 'SuccessCriteriaMet', reason: 'SuccessPolicy', message, isTold: false };
}

function failed(reason: string, message: string): JobOutcome {
  return { interim: 'FailureTarget', reason, message, isTold: false };
}
