import type { Pod } from '@castellan/machinery';
import { inDeletionOrder } from '../replica-sets/deletion-order.js';
import { backoffLeftMs, type FailureStreak } from './backoff.js';
import { IndexSet } from './index-set.js';
import {
  allIndexFailuresOf,
  completionIndexOf,
  endedAtMs,
  hasFailed,
  isIndexed,
  isTracked,
  replacesEndedOnly,
} from './job-pods.js';
import type { JobView } from './job-view.js';

/** A pod to make: of which index, and in place of which failed one. */
export interface PodCreation {
  readonly index?: number;
  readonly replaces?: Pod;
}

export interface PodsPlan {
  readonly creations: readonly PodCreation[];
  /** Active pods that are too many. They count neither as failed nor as succeeded. */
  readonly deletions: readonly Pod[];
  /** Nothing can be made before this time has passed. */
  readonly waitMs?: number;
}

/** Of one pass; the next one follows at once. */
const mostAtOnce = 500;
const nothing: PodsPlan = { creations: [], deletions: [] };

/** Which pods a Job that goes on lacks, or has too many of: it removes first, and makes when nothing is to be removed. */
export function planPods(view: JobView, streak: FailureStreak, nowMs: number): PodsPlan {
  const { job, active } = view;
  const wanted = wantedActive(view);
  const deletions = superfluous(view, wanted, nowMs).slice(0, mostAtOnce);
  if (deletions.length > 0) return { creations: [], deletions };
  const ending = replacesEndedOnly(job) ? view.terminating.length : 0;
  const count = Math.min(wanted - ending - active.length, mostAtOnce);
  if (count <= 0 || job.spec?.suspend === true) return nothing;
  if (view.spec.backoffLimitPerIndex !== undefined) return planIndexes(view, count, nowMs);
  const waitMs = backoffLeftMs(streak, nowMs);
  if (waitMs > 0) return { ...nothing, waitMs };
  const creations = isIndexed(job)
    ? pendingIndexes(view, count).map((index) => ({ index }))
    : Array.from({ length: count }, () => ({}));
  return { creations, deletions };
}

/**
 * By index, the failed pod that the next one follows. It stays until then, because that one carries on its count of failures.
 */
export function awaitingReplacement(view: JobView): ReadonlyMap<number, Pod> {
  const { job, pods, succeededIndexes, failedIndexes, activeIndexes } = view;
  const last = new Map<number, Pod>();
  if (failedIndexes === undefined) return last;
  for (const pod of pods) {
    const index = completionIndexOf(pod, job);
    if (index === undefined || !isTracked(pod) || !hasFailed(pod, job)) continue;
    if (succeededIndexes.has(index) || failedIndexes.has(index) || activeIndexes.has(index)) continue;
    const known = last.get(index);
    const isLater =
      known === undefined ||
      (allIndexFailuresOf(known) <= allIndexFailuresOf(pod) && endedAtMs(known) <= endedAtMs(pod));
    if (isLater) last.set(index, pod);
  }
  return last;
}

/** Of several indexes, those whose own wait is over; the shortest wait when none's is. */
function planIndexes(view: JobView, count: number, nowMs: number): PodsPlan {
  const failed = awaitingReplacement(view);
  const waits = pendingIndexes(view, count).map((index) => {
    const replaces = failed.get(index);
    if (replaces === undefined) return { creation: { index }, waitMs: 0 };
    const streak = { count: allIndexFailuresOf(replaces) + 1, lastMs: endedAtMs(replaces) };
    return { creation: { index, replaces }, waitMs: backoffLeftMs(streak, nowMs) };
  });
  const creations = waits.filter(({ waitMs }) => waitMs === 0).map(({ creation }) => creation);
  const waiting = waits.map(({ waitMs }) => waitMs).filter((waitMs) => waitMs > 0);
  return { creations, deletions: [], ...(waiting.length === 0 ? {} : { waitMs: Math.min(...waiting) }) };
}

function wantedActive({ spec, succeeded, active }: JobView): number {
  if (spec.suspend === true) return 0;
  const { parallelism = 1, completions } = spec;
  // Without a number of completions the first success is the sign that the work is done: what runs may end.
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(parallelism, completions - succeeded));
}

function pendingIndexes(view: JobView, count: number): readonly number[] {
  const { job, spec, succeededIndexes, activeIndexes, failedIndexes = IndexSet.empty } = view;
  const taken = succeededIndexes.union(activeIndexes).union(failedIndexes);
  const all = replacesEndedOnly(job) ? taken.union(view.terminatingIndexes) : taken;
  return all.absent(count, spec.completions ?? 0);
}

/** Pods without an index of their own go first, then in the order in which any controller would remove them. */
function superfluous({ job, active, activeIndexes }: JobView, wanted: number, nowMs: number): readonly Pod[] {
  const hasOneEach = !isIndexed(job) || activeIndexes.size === active.length;
  if (active.length <= wanted && hasOneEach) return [];
  const candidates = inDeletionOrder(active, [], nowMs);
  if (!isIndexed(job)) return candidates.slice(0, active.length - wanted);
  const kept = new Map<number, Pod>();
  for (const pod of candidates) {
    const index = completionIndexOf(pod, job);
    if (index !== undefined) kept.set(index, pod);
  }
  const chosen = new Set(kept.values());
  const left = candidates.filter((pod) => chosen.has(pod));
  const rest = new Set(left.slice(Math.max(0, left.length - wanted)));
  return candidates.filter((pod) => !rest.has(pod));
}
