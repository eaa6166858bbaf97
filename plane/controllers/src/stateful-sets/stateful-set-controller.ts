import {
  type ControllerRevision,
  controllerRevisions,
  labelSelectorOf,
  type ObjectKey,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '@castellan/machinery';
import {
  type Controller,
  type ReconcileContext,
  type ReconcileResult,
  settled,
  wait,
  watchSource,
} from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { claimObjects } from '../ownership/claim-objects.js';
import { orphanPods, orphanRevisions } from '../ownership/orphans.js';
import { SelectingOwners } from '../ownership/selecting-owners.js';
import { inOrder, obsoleteRevisions } from '../revisions/plan-revision.js';
import { templateOf } from '../revisions/revision-data.js';
import { type CurrentHistory, claimRevisions, deleteRevisions, ensureRevision } from '../revisions/revision-history.js';
import { nextAvailableInMs } from '../workloads/pod-state.js';
import { writeStatus } from '../workloads/write-status.js';
import { actOnSet } from './act-on-set.js';
import { AwaitedClaims } from './awaited-claims.js';
import type { SetRevision } from './new-pod.js';
import { awaitedClaims, observeSet, podsByOrdinal, type SetParts } from './observe-set.js';
import { planSet } from './plan-set.js';
import { ordinalOf, revisionOf } from './pod-identity.js';
import { type SetRevisions, setStatus } from './set-status.js';
import { viewOf } from './set-view.js';

/** What is waited for wakes the set when it comes; this is for the case that nobody says so. */
const longestWaitMs = 5 * 60_000;

/** Keeps the pods of StatefulSets, each with its name and its claims. Source: kube-controller-manager's statefulset controller. */
export function statefulSetController(): Controller<StatefulSet> {
  const selecting = new SelectingOwners();
  const awaited = new AwaitedClaims();
  return {
    name: 'statefulset-controller',
    for: statefulSets,
    owns: [pods, controllerRevisions],
    watches: [
      watchSource({ type: pods, map: (pod) => selecting.ownersOf(pod) }),
      watchSource({ type: persistentVolumeClaims, map: (claim) => awaited.setOf(claim) }),
    ],
    indexes: [orphanPods, orphanRevisions],
    concurrency: 5,
    async reconcile(key, context) {
      const set = context.cache.get(statefulSets, key);
      if (set === undefined) {
        selecting.forget(key);
        awaited.await(key, []);
        return undefined;
      }
      try {
        return await reconcileSet(set, key, { selecting, awaited }, context);
      } catch (error) {
        if (isNamespaceTerminating(error)) return undefined;
        throw error;
      }
    },
  };
}

interface Notes {
  readonly selecting: SelectingOwners;
  readonly awaited: AwaitedClaims;
}

async function reconcileSet(
  set: StatefulSet,
  key: ObjectKey,
  { selecting, awaited }: Notes,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const selector = labelSelectorOf(set.spec?.selector ?? {});
  selecting.remember(key, selector);
  const owner = {
    object: set,
    type: statefulSets,
    selector,
    template: set.spec?.template ?? {},
    hashLabel: 'controller.kubernetes.io/hash',
    collisionCount: set.status?.collisionCount ?? 0,
  };
  const isLeaving = set.metadata.deletionTimestamp !== undefined;
  const claimed = await claimRevisions(owner, context);
  const own = await claimPods(set, selector, context);
  // Its revisions go with it: one that was collected already must not be made anew.
  if (isLeaving) return await reportLeaving(set, own, context);
  const history = await ensureRevision(owner, claimed, context);
  const revisions = revisionsOf(set, history);
  const parts = partsOf(set, own, context);
  awaited.await(key, awaitedClaims(parts));
  const plan = planSet(parts.view, observeSet(parts, revisions.current, revisions.update));
  const failure = await actOnSet({ ...parts, revisions: templatesOf(history), context }, plan);
  // What was just written is in the cache, and there is one status to write instead of two.
  const now = ownPods(set, context);
  const nowMs = context.world.clock.now();
  await writeStatus(statefulSets, set, setStatus(set, parts.view, now, revisions, nowMs), context);
  await forgetOldRevisions(set, own, history, revisions, context);
  if (failure !== undefined) throw failure;
  const waitMs = nextAvailableInMs(now, parts.view.minReadySeconds, nowMs);
  if (plan.waitsFor === undefined) {
    return { decision: settled(), ...(waitMs === undefined ? {} : { requeueAfterMs: waitMs }) };
  }
  const afterMs = waitMs ?? longestWaitMs;
  return { decision: wait(`waits for ${plan.waitsFor}`, afterMs), requeueAfterMs: afterMs };
}

function partsOf(set: StatefulSet, own: readonly Pod[], { cache, world }: ReconcileContext): SetParts {
  return { set, view: viewOf(set), pods: podsByOrdinal(set, own), cache, nowMs: world.clock.now() };
}

/** A pod whose name is none of the set's is not its, whatever its labels are. */
async function claimPods(
  set: StatefulSet,
  selector: ReturnType<typeof labelSelectorOf>,
  context: ReconcileContext,
): Promise<readonly Pod[]> {
  const { namespace = '' } = set.metadata;
  const candidates = [...ownPods(set, context), ...context.cache.byIndex(orphanPods, namespace)];
  const accepts = (pod: { readonly metadata: Pod['metadata'] }) => ordinalOf(set, pod) !== undefined;
  return claimObjects(candidates, { object: set, ownerType: statefulSets, type: pods, selector, accepts }, context);
}

function ownPods({ metadata }: StatefulSet, { cache }: ReconcileContext): readonly Pod[] {
  return cache.ownedBy(pods, metadata.uid ?? '');
}

async function reportLeaving(set: StatefulSet, own: readonly Pod[], context: ReconcileContext): Promise<undefined> {
  const { currentRevision: current = '', updateRevision: update = '', collisionCount = 0 } = set.status ?? {};
  const status = setStatus(set, viewOf(set), own, { current, update, collisionCount }, context.world.clock.now());
  await writeStatus(statefulSets, set, status, context);
  return undefined;
}

/** A set without a current revision, or whose current one is gone, is of the newest altogether. */
function revisionsOf(set: StatefulSet, { revisions, newest, collisionCount }: CurrentHistory): SetRevisions {
  const update = newest.metadata.name ?? '';
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision);
  return { current: current?.metadata.name ?? update, update, collisionCount };
}

function templatesOf({ revisions }: CurrentHistory): ReadonlyMap<string, SetRevision> {
  const byName = new Map<string, SetRevision>();
  for (const { metadata, data } of revisions) {
    const { name = '' } = metadata;
    const template = templateOf(data);
    if (template !== undefined) byName.set(name, { name, template });
  }
  return byName;
}

async function forgetOldRevisions(
  set: StatefulSet,
  own: readonly Pod[],
  { revisions }: CurrentHistory,
  { current, update }: SetRevisions,
  context: ReconcileContext,
): Promise<void> {
  const live = new Set([current, update, ...own.map(revisionOf)]);
  const isLive = ({ metadata }: ControllerRevision) => live.has(metadata.name);
  const limit = set.spec?.revisionHistoryLimit ?? 10;
  await deleteRevisions(obsoleteRevisions(inOrder(revisions), isLive, limit), context);
}
