import {
  controllerRevisions,
  type DaemonSet,
  daemonSets,
  deepEqual,
  type LabelSelector,
  labelSelectorOf,
  type Node,
  nodes,
  type ObjectKey,
  type Pod,
  pods,
} from '@castellan/machinery';
import {
  type Change,
  type Controller,
  type ReconcileContext,
  type ReconcileResult,
  watchSource,
} from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { claimObjects } from '../ownership/claim-objects.js';
import { orphanPods, orphanRevisions } from '../ownership/orphans.js';
import { SelectingOwners } from '../ownership/selecting-owners.js';
import { obsoleteRevisions } from '../revisions/plan-revision.js';
import { type CurrentHistory, claimRevisions, deleteRevisions, ensureRevision } from '../revisions/revision-history.js';
import { createPod, deletePod } from '../workloads/change-pods.js';
import { nextAvailableInMs } from '../workloads/pod-state.js';
import { slowStart } from '../workloads/slow-start.js';
import { writeStatus } from '../workloads/write-status.js';
import { daemonPod, hashLabel, nodeNameOf } from './daemon-pod.js';
import { daemonStatus } from './daemon-status.js';
import { FailureBackoff } from './failure-backoff.js';
import { type DaemonPlan, planDaemons } from './plan-daemons.js';

/** Keeps a pod of each DaemonSet on every node that fits. Source: kube-controller-manager's daemonset controller. */
export function daemonSetController(): Controller<DaemonSet> {
  const selecting = new SelectingOwners();
  let backoff: FailureBackoff | undefined;
  return {
    name: 'daemonset-controller',
    for: daemonSets,
    owns: [pods, controllerRevisions],
    watches: [
      watchSource({ type: pods, map: (pod) => selecting.ownersOf(pod) }),
      watchSource({ type: nodes, when: mayFitOtherwise, map: () => selecting.all() }),
    ],
    indexes: [orphanPods, orphanRevisions],
    concurrency: 2,
    async reconcile(key, context) {
      const set = context.cache.get(daemonSets, key);
      const selector = labelSelectorOf(set?.spec?.selector ?? {});
      if (set === undefined || selector.length === 0) {
        selecting.forget(key);
        if (set !== undefined) context.events.record(set, selectsAll);
        return undefined;
      }
      selecting.remember(key, selector);
      if (set.metadata.deletionTimestamp !== undefined) return undefined;
      backoff ??= new FailureBackoff(context.world.clock);
      try {
        return await reconcileSet(set, key, { selector, backoff }, context);
      } catch (error) {
        if (isNamespaceTerminating(error)) return undefined;
        throw error;
      }
    },
  };
}

const selectsAll = {
  type: 'Warning',
  reason: 'SelectingAll',
  message: 'This daemon set is selecting all pods. A non-empty selector is required.',
} as const;

/** What a node reports of itself all the time changes nothing of which pods it is to have. */
function mayFitOtherwise(change: Change<Node>): boolean {
  if (change.kind !== 'updated') return true;
  const { object, previous } = change;
  const isSame =
    deepEqual(object.metadata.labels, previous.metadata.labels) &&
    deepEqual(object.spec?.taints, previous.spec?.taints);
  return !isSame;
}

async function reconcileSet(
  set: DaemonSet,
  key: ObjectKey,
  { selector, backoff }: { readonly selector: LabelSelector; readonly backoff: FailureBackoff },
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { cache, world } = context;
  const claimant = { object: set, ownerType: daemonSets, type: pods, selector };
  const candidates = [...ownPods(set, context), ...cache.byIndex(orphanPods, key.namespace ?? '')];
  const claimed = await claimObjects(candidates, claimant, context);
  const history = await currentHistory(set, selector, context);
  const hash = history.newest.metadata.labels?.[hashLabel] ?? '';

  let waitMs = Number.POSITIVE_INFINITY;
  const mayReplaceFailed = (pod: Pod): boolean => {
    const leftMs = backoff.take(`${set.metadata.uid}/${set.metadata.generation}/${nodeNameOf(pod)}`);
    if (leftMs > 0) waitMs = Math.min(waitMs, leftMs);
    return leftMs === 0;
  };
  const facts = { set, nodes: cache.list(nodes), hash, nowMs: world.clock.now(), mayReplaceFailed };
  const error = await carryOut(set, planDaemons({ ...facts, pods: claimed }), hash, context);

  // What was just written is in the cache, and there is one status to write instead of two.
  const now = ownPods(set, context);
  const nowMs = world.clock.now();
  const { collisionCount } = history;
  await writeStatus(daemonSets, set, daemonStatus(set, { ...facts, pods: now, collisionCount, nowMs }), context);
  if (error !== undefined) throw error;
  await forgetOldRevisions(set, history, now, context);
  const readyMs = nextAvailableInMs(now, set.spec?.minReadySeconds ?? 0, nowMs);
  waitMs = Math.min(waitMs, readyMs ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(waitMs) ? { requeueAfterMs: waitMs } : undefined;
}

async function currentHistory(
  set: DaemonSet,
  selector: LabelSelector,
  context: ReconcileContext,
): Promise<CurrentHistory> {
  const template = set.spec?.template ?? {};
  const { collisionCount = 0 } = set.status ?? {};
  const owner = { object: set, type: daemonSets, selector, template, hashLabel, collisionCount };
  return await ensureRevision(owner, await claimRevisions(owner, context), context);
}

/** Gives what failed first. */
async function carryOut(set: DaemonSet, plan: DaemonPlan, hash: string, context: ReconcileContext): Promise<unknown> {
  const { metadata } = set;
  const tell = (pod: Pod, type: 'Normal' | 'Warning', reason: string, text: (name: string) => string) => {
    const name = `${metadata.namespace}/${pod.metadata.name} on node ${nodeNameOf(pod)}`;
    context.events.record(set, { type, reason, message: text(name) });
  };
  for (const pod of plan.failed) {
    tell(pod, 'Warning', 'FailedDaemonPod', (name) => `Found failed daemon pod ${name}, will try to kill it`);
  }
  for (const pod of plan.succeeded) {
    tell(pod, 'Normal', 'SucceededDaemonPod', (name) => `Found succeeded daemon pod ${name}, will try to delete it`);
  }
  const failed = await slowStart(plan.create, (node) => createPod(set, daemonPod(set, node, hash), context));
  const ends = await Promise.allSettled(plan.delete.map((pod) => deletePod(set, pod, context)));
  return failed ?? ends.find((end) => end.status === 'rejected')?.reason;
}

async function forgetOldRevisions(
  set: DaemonSet,
  { revisions, newest }: CurrentHistory,
  own: readonly Pod[],
  context: ReconcileContext,
): Promise<void> {
  const live = new Set(own.map(({ metadata }) => metadata.labels?.[hashLabel]));
  const limit = set.spec?.revisionHistoryLimit ?? 10;
  const isLive = (revision: (typeof revisions)[number]) =>
    revision === newest || live.has(revision.metadata.labels?.[hashLabel]);
  await deleteRevisions(obsoleteRevisions(revisions, isLive, limit), context);
}

function ownPods({ metadata }: DaemonSet, { cache }: ReconcileContext): readonly Pod[] {
  return cache.ownedBy(pods, metadata.uid ?? '');
}
