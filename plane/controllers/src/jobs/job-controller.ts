import {
  formatKey,
  isStatusError,
  type Job,
  jobs,
  labelSelectorOf,
  type ObjectKey,
  type Pod,
  pods,
} from '@castellan/machinery';
import {
  type Controller,
  index,
  type ReconcileContext,
  type ReconcileResult,
  updateStatus,
  watchSource,
} from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { claimObjects } from '../ownership/claim-objects.js';
import { orphanPods } from '../ownership/orphans.js';
import { controllerOf } from '../ownership/plan-claims.js';
import { createPod, deletePod } from '../workloads/change-pods.js';
import { slowStart } from '../workloads/slow-start.js';
import type { FailureStreak } from './backoff.js';
import { deadlineLeftMs, outcomeOf } from './job-outcome.js';
import { podOf } from './job-pod.js';
import { isTracked } from './job-pods.js';
import { planStatus } from './job-status.js';
import { finalConditionOf, JobView } from './job-view.js';
import { type PodCreation, planPods } from './plan-pods.js';
import { release } from './pod-finalizers.js';

const jobNameLabel = 'batch.kubernetes.io/job-name';
/** The value of `managedBy` that means us. */
const ownName = 'kubernetes.io/job-controller';
const podsByJob = index(pods, 'job', (pod) => jobsOf(pod).map(formatKey));

/**
 * Runs the pods of Jobs until enough of them have succeeded or too many have failed. SPEC.md numbers what it promises.
 * Source: Kubernetes, "Jobs", and kube-controller-manager's Job controller.
 */
export function jobController(): Controller<Job> {
  /** Of each Job, the failures in a row; after a restart as far as its pods tell. */
  const streaks = new Map<string, { readonly uid: string; readonly streak: FailureStreak }>();
  return {
    name: 'job-controller',
    for: jobs,
    watches: [watchSource({ type: pods, map: jobsOf })],
    indexes: [podsByJob, orphanPods],
    writes: [{ type: pods, verbs: ['create', 'delete', 'patch'] }],
    concurrency: 5,
    async reconcile(key, context) {
      const job = context.cache.get(jobs, key);
      await releaseOrphans(key, job, context);
      if (job === undefined || finalConditionOf(job) !== undefined) streaks.delete(formatKey(key));
      if (job === undefined || (job.spec?.managedBy ?? ownName) !== ownName) return undefined;
      if (finalConditionOf(job) !== undefined) {
        await release(viewOf(job, context).pods.filter(isTracked), context);
        return undefined;
      }
      await adopt(job, context);
      const view = viewOf(job, context);
      const { uid = '' } = job.metadata;
      const known = streaks.get(formatKey(key));
      try {
        const before = known?.uid === uid ? known.streak : undefined;
        const { result, streak } = await reconcileJob(view, before, context);
        streaks.set(formatKey(key), { uid, streak });
        return result;
      } catch (error) {
        // Somebody else has changed the Job in between: it is looked at again as it is now.
        if (isStatusError(error, 'Conflict')) return { requeueAfterMs: 20 };
        throw error;
      }
    },
  };
}

async function reconcileJob(view: JobView, before: FailureStreak | undefined, context: ReconcileContext) {
  const { client, events, signal, world } = context;
  const { job } = view;
  const nowMs = world.clock.now();
  const outcome = outcomeOf(view, nowMs);
  let waitMs = deadlineLeftMs(view, nowMs);
  if (outcome?.isTold === true) await deletePods(job, view.active, context);
  else if (outcome === undefined && job.metadata.deletionTimestamp === undefined) {
    const plan = planPods(view, view.streak(before), nowMs);
    await release(plan.deletions.filter(isTracked), context);
    await deletePods(job, plan.deletions, context);
    const failure = await slowStart(plan.creations, (creation) => createJobPod(job, creation, context));
    if (failure !== undefined) throw failure;
    if (plan.waitMs !== undefined) waitMs = Math.min(plan.waitMs, waitMs ?? plan.waitMs);
  }
  // The cache has what was just written. What has ended by now is told in the status, and would not be found again.
  const after = viewOf(job, context);
  const streak = after.streak(before);
  const { status, isChanged, releases, events: notes } = planStatus(after, outcome, nowMs);
  if (isChanged) await updateStatus(client, jobs, job, status);
  signal.throwIfAborted();
  for (const note of notes) events.record(job, note);
  await release(releases, context);
  const result: ReconcileResult =
    outcome !== undefined || waitMs === undefined ? undefined : { requeueAfterMs: Math.max(1, waitMs) };
  return { result, streak };
}

/** Its own pods, in an order that does not change from one look to the next. */
function viewOf(job: Job, { cache }: ReconcileContext): JobView {
  const own = cache.ownedBy(pods, job.metadata.uid ?? '');
  return new JobView(
    job,
    own.toSorted((left, right) => ((left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1)),
  );
}

async function adopt(job: Job, context: ReconcileContext): Promise<void> {
  const { metadata, spec } = job;
  if (spec?.selector === undefined) return;
  const claim = { object: job, selector: labelSelectorOf(spec.selector), ownerType: jobs, type: pods };
  await claimObjects(context.cache.byIndex(orphanPods, metadata.namespace ?? ''), claim, context);
}

/** In a namespace that ends, none is made, and nothing has failed. */
async function createJobPod(job: Job, creation: PodCreation, context: ReconcileContext): Promise<void> {
  await createPod(job, podOf(job, creation), context).catch((error: unknown) => {
    if (!isNamespaceTerminating(error)) throw error;
  });
}

async function deletePods(job: Job, deleted: readonly Pod[], context: ReconcileContext): Promise<void> {
  await Promise.all(deleted.map((pod) => deletePod(job, pod, context)));
}

/** Pods that wait to be counted by a Job that is gone. The server is asked: the cache may not show the Job yet. */
async function releaseOrphans(key: ObjectKey, cached: Job | undefined, context: ReconcileContext): Promise<void> {
  const isOrphan = (pod: Pod, job: Job | undefined) =>
    isTracked(pod) && (job === undefined || (controllerOf(pod)?.uid ?? job.metadata.uid) !== job.metadata.uid);
  const candidates = context.cache.byIndex(podsByJob, formatKey(key));
  if (!candidates.some((pod) => isOrphan(pod, cached))) return;
  const job = await context.client.find(jobs, key, { signal: context.signal });
  await release(
    candidates.filter((pod) => isOrphan(pod, job)),
    context,
  );
}

/** The Job that a pod is of; of one that nobody controls, by its label. */
function jobsOf(pod: Pod): readonly ObjectKey[] {
  const { namespace = '', labels } = pod.metadata;
  const owner = controllerOf(pod);
  const name = owner === undefined ? labels?.[jobNameLabel] : owner.kind === 'Job' ? owner.name : undefined;
  return name === undefined ? [] : [{ namespace, name }];
}
