import {
  labelSelectorOf,
  matchesLabels,
  type ObjectKey,
  type Pod,
  pods,
  type ReplicaSet,
  replicaSets,
} from '@castellan/machinery';
import { type Controller, ownerReferenceFor, type ReconcileContext, watchSource } from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { claimObjects } from '../ownership/claim-objects.js';
import { orphanPods } from '../ownership/orphans.js';
import { controllerOf } from '../ownership/plan-claims.js';
import { SelectingOwners } from '../ownership/selecting-owners.js';
import { createPod, deletePod, errorText } from '../workloads/change-pods.js';
import { podFromTemplate } from '../workloads/pod-from-template.js';
import { nextAvailableInMs } from '../workloads/pod-state.js';
import { slowStart } from '../workloads/slow-start.js';
import { writeStatus } from '../workloads/write-status.js';
import { planReplicas, type ReplicaChanges } from './plan-replicas.js';
import { type ReplicaFailure, replicaSetStatus } from './replica-set-status.js';

/** Keeps as many pods as each ReplicaSet wants. Source: kube-controller-manager's replicaset controller. */
export function replicaSetController(): Controller<ReplicaSet> {
  const selecting = new SelectingOwners();
  return {
    name: 'replicaset-controller',
    for: replicaSets,
    owns: [pods],
    watches: [watchSource({ type: pods, map: (pod) => selecting.ownersOf(pod) })],
    indexes: [orphanPods],
    concurrency: 5,
    async reconcile(key, context) {
      const replicaSet = context.cache.get(replicaSets, key);
      if (replicaSet === undefined) {
        selecting.forget(key);
        return undefined;
      }
      return await reconcile(replicaSet, key, selecting, context);
    },
  };
}

async function reconcile(
  replicaSet: ReplicaSet,
  key: ObjectKey,
  selecting: SelectingOwners,
  context: ReconcileContext,
) {
  const { clock } = context.world;
  const { minReadySeconds = 0, selector: wanted = {} } = replicaSet.spec ?? {};
  const selector = labelSelectorOf(wanted);
  selecting.remember(key, selector);
  const claimant = { object: replicaSet, ownerType: replicaSets, type: pods, selector };
  const candidates = [...ownedPods(replicaSet, context), ...context.cache.byIndex(orphanPods, key.namespace ?? '')];
  const claimed = await claimObjects(candidates, claimant, context);
  const changes = planReplicas(replicaSet, claimed, relatedPods(replicaSet, context), clock.now());
  const error = await carryOut(replicaSet, changes, context);

  // What was just written is in the cache, and there is one status to write instead of two.
  const now = ownedPods(replicaSet, context).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  const status = replicaSetStatus(replicaSet, now, failureOf(changes, error), clock.now());
  await writeStatus(replicaSets, replicaSet, status, context);
  if (error !== undefined) throw error;
  const waitMs = nextAvailableInMs(now, minReadySeconds, clock.now());
  return waitMs === undefined ? undefined : { requeueAfterMs: waitMs };
}

/** Gives what failed first. */
async function carryOut(replicaSet: ReplicaSet, changes: ReplicaChanges, context: ReconcileContext): Promise<unknown> {
  const reference = ownerReferenceFor(replicaSet, replicaSets);
  const pod = podFromTemplate(replicaSet.spec?.template ?? {}, replicaSet, reference);
  const missing = Array.from({ length: changes.create }, () => pod);
  const failed = await slowStart(missing, (each) => createPod(replicaSet, each, context));
  if (failed !== undefined) return isNamespaceTerminating(failed) ? undefined : failed;
  const ends = await Promise.allSettled(changes.delete.map((pod) => deletePod(replicaSet, pod, context)));
  return ends.find((end) => end.status === 'rejected')?.reason;
}

function failureOf(changes: ReplicaChanges, error: unknown): ReplicaFailure | undefined {
  if (error === undefined) return undefined;
  return { reason: changes.create > 0 ? 'FailedCreate' : 'FailedDelete', message: errorText(error) };
}

function ownedPods({ metadata }: ReplicaSet, { cache }: ReconcileContext): readonly Pod[] {
  return cache.ownedBy(pods, metadata.uid ?? '');
}

/** The pods of every ReplicaSet with the same owner: they are to be spread over the nodes together. */
function relatedPods(replicaSet: ReplicaSet, { cache }: ReconcileContext): readonly Pod[] {
  const owner = controllerOf(replicaSet);
  const related = owner === undefined ? [replicaSet] : cache.ownedBy(replicaSets, owner.uid);
  return related.flatMap(({ metadata }) => cache.ownedBy(pods, metadata.uid ?? ''));
}
