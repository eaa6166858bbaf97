import {
  type KubernetesObject,
  labelSelectorOf,
  matchesLabels,
  type ObjectKey,
  type Pod,
  pods,
  type ReplicaSet,
  type ReplicationController,
  type ResourceType,
  replicaSets,
  replicationControllers,
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

type ReplicaSetStatus = NonNullable<ReplicaSet['status']>;

/** A kind that keeps a number of pods, and how it is read as a ReplicaSet. */
interface ReplicaKind<T extends KubernetesObject> {
  readonly controllerName: string;
  readonly type: ResourceType<T>;
  /** With the metadata of the object. */
  asReplicaSet(object: T): ReplicaSet;
  writeStatus(object: T, status: ReplicaSetStatus, context: ReconcileContext): Promise<void>;
}

/** Keeps as many pods as each ReplicaSet wants. Source: kube-controller-manager's replicaset controller. */
export function replicaSetController(): Controller<ReplicaSet> {
  return replicaController({
    controllerName: 'replicaset-controller',
    type: replicaSets,
    asReplicaSet: (replicaSet) => replicaSet,
    writeStatus: (replicaSet, status, context) => writeStatus(replicaSets, replicaSet, status, context),
  });
}

/** The same for ReplicationControllers, the kind before ReplicaSets: their selectors are labels alone. */
export function replicationControllerController(): Controller<ReplicationController> {
  return replicaController({
    controllerName: 'replication-controller',
    type: replicationControllers,
    asReplicaSet: ({ spec = {}, ...controller }) => {
      const { selector = {}, ...rest } = spec;
      return { ...controller, spec: { ...rest, selector: { matchLabels: selector } } };
    },
    writeStatus: (controller, { terminatingReplicas: _, ...status }, context) =>
      writeStatus(replicationControllers, controller, status, context),
  });
}

function replicaController<T extends KubernetesObject>(kind: ReplicaKind<T>): Controller<T> {
  const selecting = new SelectingOwners();
  return {
    name: kind.controllerName,
    for: kind.type,
    owns: [pods],
    watches: [watchSource({ type: pods, map: (pod) => selecting.ownersOf(pod) })],
    indexes: [orphanPods],
    concurrency: 5,
    async reconcile(key, context) {
      const object = context.cache.get(kind.type, key);
      if (object === undefined) {
        selecting.forget(key);
        return undefined;
      }
      return await reconcile({ kind, object, replicaSet: kind.asReplicaSet(object) }, key, selecting, context);
    },
  };
}

/** An object of a kind, and itself read as a ReplicaSet. */
interface Replicas<T extends KubernetesObject> {
  readonly kind: ReplicaKind<T>;
  readonly object: T;
  readonly replicaSet: ReplicaSet;
}

async function reconcile<T extends KubernetesObject>(
  replicas: Replicas<T>,
  key: ObjectKey,
  selecting: SelectingOwners,
  context: ReconcileContext,
) {
  const { kind, object, replicaSet } = replicas;
  const { clock } = context.world;
  const { minReadySeconds = 0, selector: wanted = {} } = replicaSet.spec ?? {};
  const selector = labelSelectorOf(wanted);
  selecting.remember(key, selector);
  const claimant = { object, ownerType: kind.type, type: pods, selector };
  const candidates = [...ownedPods(object, context), ...context.cache.byIndex(orphanPods, key.namespace ?? '')];
  const claimed = await claimObjects(candidates, claimant, context);
  const changes = planReplicas(replicaSet, claimed, relatedPods(replicas, context), clock.now());
  const error = await carryOut(replicas, changes, context);

  // What was just written is in the cache, and there is one status to write instead of two.
  const now = ownedPods(object, context).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
  const status = replicaSetStatus(replicaSet, now, failureOf(changes, error), clock.now());
  await kind.writeStatus(object, status, context);
  if (error !== undefined) throw error;
  const waitMs = nextAvailableInMs(now, minReadySeconds, clock.now());
  return waitMs === undefined ? undefined : { requeueAfterMs: waitMs };
}

/** Gives what failed first. */
async function carryOut<T extends KubernetesObject>(
  { kind, object, replicaSet }: Replicas<T>,
  changes: ReplicaChanges,
  context: ReconcileContext,
): Promise<unknown> {
  const pod = podFromTemplate(replicaSet.spec?.template ?? {}, object, ownerReferenceFor(object, kind.type));
  const missing = Array.from({ length: changes.create }, () => pod);
  const failed = await slowStart(missing, (each) => createPod(object, each, context));
  if (failed !== undefined) return isNamespaceTerminating(failed) ? undefined : failed;
  const ends = await Promise.allSettled(changes.delete.map((each) => deletePod(object, each, context)));
  return ends.find((end) => end.status === 'rejected')?.reason;
}

function failureOf(changes: ReplicaChanges, error: unknown): ReplicaFailure | undefined {
  if (error === undefined) return undefined;
  return { reason: changes.create > 0 ? 'FailedCreate' : 'FailedDelete', message: errorText(error) };
}

function ownedPods({ metadata }: KubernetesObject, { cache }: ReconcileContext): readonly Pod[] {
  return cache.ownedBy(pods, metadata.uid ?? '');
}

/** The pods of every ReplicaSet with the same owner: they are to be spread over the nodes together. */
function relatedPods<T extends KubernetesObject>(
  { kind, object }: Replicas<T>,
  { cache }: ReconcileContext,
): readonly Pod[] {
  const owner = controllerOf(object);
  const related = owner === undefined ? [object] : cache.ownedBy(kind.type, owner.uid);
  return related.flatMap(({ metadata }) => cache.ownedBy(pods, metadata.uid ?? ''));
}
