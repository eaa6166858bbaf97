import type { Job, Pod } from '@castellan/machinery';
import { isTerminating } from '../workloads/pod-state.js';

/** Holds a pod until its end is counted in the status of its Job. */
export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const completionIndexKey = 'batch.kubernetes.io/job-completion-index';
export const failureCountKey = 'batch.kubernetes.io/job-index-failure-count';
export const ignoredFailureCountKey = 'batch.kubernetes.io/job-index-ignored-failure-count';

export function isTracked({ metadata }: Pod): boolean {
  return (metadata.finalizers ?? []).includes(trackingFinalizer);
}

export function hasSucceeded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded';
}

/** Whether a Job makes a new pod only when the one before has ended, not as soon as it is being deleted. */
export function replacesEndedOnly({ spec }: Job): boolean {
  return spec?.podReplacementPolicy === 'Failed' || spec?.podFailurePolicy !== undefined;
}

/** A pod that is being deleted counts as failed at once, unless its Job waits for the end of it. */
export function hasFailed(pod: Pod, job: Job): boolean {
  return pod.status?.phase === 'Failed' || (isTerminating(pod) && !replacesEndedOnly(job));
}

export function isIndexed({ spec }: Job): boolean {
  return spec?.completionMode === 'Indexed';
}

/** The completion index of a pod; `undefined` when it has none that its Job knows. */
export function completionIndexOf({ metadata }: Pod, { spec }: Job): number | undefined {
  const text = metadata.annotations?.[completionIndexKey];
  if (text === undefined || !/^\d+$/.test(text)) return undefined;
  return Number(text) < (spec?.completions ?? 0) ? Number(text) : undefined;
}

/** Failures of the pods that had this index before, as counted by `backoffLimitPerIndex`. */
export function indexFailuresOf(pod: Pod): number {
  return annotatedCount(pod, failureCountKey);
}

/** Those and the ones that the failure policy ignores. */
export function allIndexFailuresOf(pod: Pod): number {
  return indexFailuresOf(pod) + annotatedCount(pod, ignoredFailureCountKey);
}

function annotatedCount({ metadata }: Pod, key: string): number {
  const text = metadata.annotations?.[key] ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/**
 * When a pod ended, in milliseconds: its last container, or what tells best of it. A pod whose node is gone is deleted without a
 * word of its containers.
 */
export function endedAtMs(pod: Pod): number {
  const { status, metadata } = pod;
  const ends = (status?.containerStatuses ?? []).map(({ state }) => state?.terminated?.finishedAt);
  const known = ends.filter((end) => end !== undefined);
  if (known.length > 0 && known.length === ends.length) return Math.max(...known.map((end) => Date.parse(end)));
  const unready = status?.conditions?.find((condition) => condition.type === 'Ready' && condition.status === 'False');
  if (unready?.lastTransitionTime !== undefined) return Date.parse(unready.lastTransitionTime);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp = '' } = metadata;
  if (deletionTimestamp !== undefined) return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1_000;
  return Date.parse(creationTimestamp);
}
