import { findCondition, type Job, type JobSpec, type Pod } from '@castellan/machinery';
import { hasEnded, isActive, isTerminating } from '../workloads/pod-state.js';
import { type FailureStreak, noFailures, streakAfter } from './backoff.js';
import { judgeFailure } from './failure-policy.js';
import { IndexSet } from './index-set.js';
import { completionIndexOf, hasFailed, hasSucceeded, indexFailuresOf, isIndexed, isTracked } from './job-pods.js';

/** The type of a Job's final condition, once it is true. */
export function finalConditionOf({ status }: Job) {
  return (['Complete', 'Failed'] as const)
    .map((type) => findCondition(status?.conditions, type))
    .find((condition) => condition?.status === 'True');
}

/**
 * What a Job and its pods come to, read from what is stored. A pod that has ended is counted in four steps, each of which may be
 * the last before a crash: its uid is *uncounted* in the status, then it loses the tracking finalizer, then the number in the
 * status grows and the uid goes. Of indexed Jobs, successes need no uid: the index itself is counted. Source: KEP-2307.
 */
export class JobView {
  readonly job: Job;
  readonly spec: JobSpec;
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: readonly Pod[];
  /** Ended, and not told in the status at all. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  readonly #uncounted: { readonly succeeded: ReadonlySet<string>; readonly failed: ReadonlySet<string> };

  constructor(job: Job, pods: readonly Pod[]) {
    if (job.spec === undefined)
      throw new Error(`Job ${job.metadata.name ?? ''} has no spec: the API server requires one`);
    this.job = job;
    this.spec = job.spec;
    this.pods = pods;
    this.active = pods.filter(isActive);
    this.terminating = pods.filter(isTerminating);
    const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
    this.#uncounted = { succeeded: new Set(succeeded), failed: new Set(failed) };
    const isCountable = (pod: Pod) => isTracked(pod) && (!isIndexed(job) || completionIndexOf(pod, job) !== undefined);
    this.newSucceeded = pods.filter((pod) => isCountable(pod) && hasSucceeded(pod) && !this.isUncounted(pod));
    this.newFailed = pods.filter((pod) => isCountable(pod) && hasFailed(pod, job) && !this.isUncounted(pod));
  }

  isUncounted({ metadata: { uid = '' } }: Pod): boolean {
    return this.#uncounted.succeeded.has(uid) || this.#uncounted.failed.has(uid);
  }

  /** Completions so far; of an indexed Job, indexes that have succeeded. */
  get succeeded(): number {
    if (isIndexed(this.job)) return this.succeededIndexes.size;
    return (this.job.status?.succeeded ?? 0) + this.newSucceeded.length + this.#uncounted.succeeded.size;
  }

  /** Pods that failed, but for those that the failure policy ignores. */
  get failed(): number {
    const counted = this.newFailed.filter((pod) => judgeFailure(this.spec.podFailurePolicy, pod).isCounted);
    return (this.job.status?.failed ?? 0) + counted.length + this.#uncounted.failed.size;
  }

  get succeededIndexes(): IndexSet {
    const told = IndexSet.parse(this.job.status?.completedIndexes, this.spec.completions ?? 0);
    return told.union(IndexSet.of(this.#indexesOf(this.newSucceeded)));
  }

  /** Indexes for which no pod is tried any more; `undefined` when failures are not counted by index. */
  get failedIndexes(): IndexSet | undefined {
    if (this.spec.backoffLimitPerIndex === undefined) return undefined;
    const told = IndexSet.parse(this.job.status?.failedIndexes, this.spec.completions ?? 0);
    const failed = this.pods.filter((pod) => isTracked(pod) && this.#failsIndex(pod));
    return told.union(IndexSet.of(this.#indexesOf(failed)));
  }

  get activeIndexes(): IndexSet {
    return IndexSet.of(this.#indexesOf(this.active));
  }

  get terminatingIndexes(): IndexSet {
    return IndexSet.of(this.#indexesOf(this.terminating));
  }

  /** Failures in a row, after a streak that was known before these pods ended. */
  streak(before: FailureStreak | undefined): FailureStreak {
    return streakAfter(before ?? this.#countedStreak(), this.newSucceeded, this.newFailed);
  }

  /** As far as the pods that are counted already are still there to tell. */
  #countedStreak(): FailureStreak {
    const counted = this.pods.filter((pod) => hasEnded(pod) && (!isTracked(pod) || this.isUncounted(pod)));
    return streakAfter(
      noFailures,
      counted.filter(hasSucceeded),
      counted.filter((pod) => !hasSucceeded(pod)),
    );
  }

  #failsIndex(pod: Pod): boolean {
    if (!hasFailed(pod, this.job)) return false;
    const { isCounted, failsIndex } = judgeFailure(this.spec.podFailurePolicy, pod);
    return failsIndex || (isCounted && indexFailuresOf(pod) >= (this.spec.backoffLimitPerIndex ?? 0));
  }

  #indexesOf(pods: readonly Pod[]): readonly number[] {
    return pods.map((pod) => completionIndexOf(pod, this.job)).filter((index) => index !== undefined);
  }
}
