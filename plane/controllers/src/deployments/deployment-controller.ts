import {
  type Deployment,
  deployments,
  isStatusError,
  keyOf,
  labelSelectorOf,
  matchesLabels,
  type ReplicaSet,
  replicaSets,
} from '@castellan/machinery';
import {
  type Controller,
  ownerReferenceFor,
  type ReconcileContext,
  type ReconcileResult,
  watchSource,
} from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';
import { claimObjects } from '../ownership/claim-objects.js';
import { orphanReplicaSets } from '../ownership/orphans.js';
import { controllerOf } from '../ownership/plan-claims.js';
import { SelectingOwners } from '../ownership/selecting-owners.js';
import { writeStatus } from '../workloads/write-status.js';
import { type CurrentNews, stuckInMs } from './deployment-conditions.js';
import { deploymentStatus, type StatusFacts } from './deployment-status.js';
import { obsoleteReplicaSets, planRollout, type ReplicaSetChange } from './plan-rollout.js';
import { revisionAnnotation } from './replica-set-annotations.js';
import { rolloutView, sizeOf } from './rollout-view.js';
import { isSameTemplate } from './template-hash.js';

const countingMs = { longest: 1_000, step: 5 } as const;

/** Rolls each Deployment out over its ReplicaSets. Source: kube-controller-manager's deployment controller. */
export function deploymentController(): Controller<Deployment> {
  const selecting = new SelectingOwners();
  return {
    name: 'deployment-controller',
    for: deployments,
    owns: [replicaSets],
    watches: [watchSource({ type: replicaSets, map: (replicaSet) => selecting.ownersOf(replicaSet) })],
    indexes: [orphanReplicaSets],
    concurrency: 10,
    async reconcile(key, context) {
      const deployment = context.cache.get(deployments, key);
      const selector = labelSelectorOf(deployment?.spec?.selector ?? {});
      if (deployment === undefined || selector.length === 0) {
        selecting.forget(key);
        if (deployment !== undefined) await refuseEmptySelector(deployment, context);
        return undefined;
      }
      selecting.remember(key, selector);
      const claimant = { object: deployment, ownerType: deployments, type: replicaSets, selector };
      const orphans = context.cache.byIndex(orphanReplicaSets, key.namespace ?? '');
      const owned = await claimObjects([...ownedBy(deployment, context), ...orphans], claimant, context);
      try {
        return await rollOut(deployment, owned, context);
      } catch (error) {
        // A ReplicaSet changed since it was read: plan again with what the cache shows soon.
        if (isStatusError(error, 'Conflict')) return { requeueAfterMs: 20 };
        throw error;
      }
    },
  };
}

async function refuseEmptySelector(deployment: Deployment, context: ReconcileContext): Promise<void> {
  const message = 'This deployment is selecting all pods. A non-empty selector is required.';
  context.events.record(deployment, { type: 'Warning', reason: 'SelectingAll', message });
  const { generation = 0 } = deployment.metadata;
  await writeStatus(deployments, deployment, { ...deployment.status, observedGeneration: generation }, context);
}

async function rollOut(
  deployment: Deployment,
  owned: readonly ReplicaSet[],
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { create, change, isHeld } = planRollout(deployment, owned);
  const creation = create === undefined ? undefined : await createReplicaSet(deployment, create, context);
  if (creation?.error === undefined) for (const each of change) await changeReplicaSet(deployment, each, context);

  if (change.length > 0 || creation?.facts.news?.kind === 'created') await untilCounted(deployment, context);
  const view = rolloutView(deployment, selectedOf(deployment, context));
  const found: CurrentNews | undefined =
    view.current === undefined ? undefined : { kind: 'found', name: view.current.metadata.name ?? '' };
  const { collisionCount } = deployment.status ?? {};
  const facts: StatusFacts = { view, news: found, collisionCount, isHeld, ...creation?.facts };
  const status = deploymentStatus(deployment, facts, context.world.clock.now());
  const revision = view.current?.metadata.annotations?.[revisionAnnotation];
  const annotations = revision === undefined ? {} : { [revisionAnnotation]: revision };
  await writeStatus(deployments, deployment, status, context, annotations);
  if (creation?.error !== undefined) throw creation.error;

  for (const each of obsoleteReplicaSets({ ...deployment, status }, view)) await deleteReplicaSet(each, context);
  if (creation?.isToBeTriedAgain === true) return { requeueAfterMs: 1 };
  const waitMs = isHeld ? undefined : stuckInMs(deployment, status, context.world.clock.now());
  return waitMs === undefined ? undefined : { requeueAfterMs: waitMs };
}

/**
 * Gives ReplicaSets that were just written a moment to count their pods: one status that says so, and not one before and one
 * after. One that takes longer changes later, and asks for another pass.
 */
async function untilCounted(deployment: Deployment, context: ReconcileContext): Promise<void> {
  const { clock } = context.world;
  const untilMs = clock.monotonicNow() + countingMs.longest;
  const isCounted = ({ metadata, status }: ReplicaSet) =>
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0);
  while (!ownedBy(deployment, context).every(isCounted) && clock.monotonicNow() < untilMs) {
    await clock.sleep(countingMs.step, context.signal);
  }
}

interface Creation {
  readonly facts: Partial<StatusFacts>;
  /** The name was another's: the next pass has another name. */
  readonly isToBeTriedAgain?: boolean;
  readonly error?: unknown;
}

async function createReplicaSet(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  context: ReconcileContext,
): Promise<Creation> {
  const { client, events } = context;
  const { name = '' } = replicaSet.metadata;
  const metadata = { ...replicaSet.metadata, ownerReferences: [ownerReferenceFor(deployment, deployments)] };
  try {
    await client.create(replicaSets, { ...replicaSet, metadata });
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return await onNameTaken(deployment, replicaSet, context);
    if (isNamespaceTerminating(error)) return { facts: {} };
    const message = error instanceof Error ? error.message : String(error);
    const note = `Failed to create new replica set ${JSON.stringify(name)}: ${message}`;
    events.record(deployment, { type: 'Warning', reason: 'ReplicaSetCreateError', message: note });
    return { facts: { news: { kind: 'refused', name, message } }, error };
  }
  const size = sizeOf(replicaSet);
  if (size > 0) recordScaling(deployment, 'up', `${name} from 0 to ${size}`, context);
  return { facts: { news: { kind: 'created', name } } };
}

/** Ours of this template, when the cache is behind; else that of a template with the same hash, which is counted. */
async function onNameTaken(
  deployment: Deployment,
  { metadata, spec }: ReplicaSet,
  { client }: ReconcileContext,
): Promise<Creation> {
  const there = await client.find(replicaSets, keyOf({ metadata }));
  const isOurs = there !== undefined && controllerOf(there)?.uid === deployment.metadata.uid;
  if (isOurs && isSameTemplate(there.spec?.template, spec?.template)) return { facts: {}, isToBeTriedAgain: true };
  return { facts: { collisionCount: (deployment.status?.collisionCount ?? 0) + 1 }, isToBeTriedAgain: true };
}

async function changeReplicaSet(
  deployment: Deployment,
  { before, after }: ReplicaSetChange,
  context: ReconcileContext,
): Promise<void> {
  const { uid, resourceVersion } = before.metadata;
  const { replicas, minReadySeconds } = after.spec ?? {};
  const body = {
    metadata: { uid, resourceVersion, annotations: after.metadata.annotations },
    spec: { replicas, minReadySeconds },
  };
  await context.client.patch(replicaSets, keyOf(before), { type: 'merge', body });
  const [from, to] = [sizeOf(before), sizeOf(after)];
  if (from === to) return;
  recordScaling(deployment, from < to ? 'up' : 'down', `${before.metadata.name} from ${from} to ${to}`, context);
}

function recordScaling(
  deployment: Deployment,
  direction: 'up' | 'down',
  what: string,
  { events }: ReconcileContext,
): void {
  const message = `Scaled ${direction} replica set ${what}`;
  events.record(deployment, { type: 'Normal', reason: 'ScalingReplicaSet', message });
}

/** Only as it was judged: without pods. */
async function deleteReplicaSet({ metadata }: ReplicaSet, { client }: ReconcileContext): Promise<void> {
  const { uid = '', resourceVersion = '' } = metadata;
  await client.delete(replicaSets, keyOf({ metadata }), { preconditions: { uid, resourceVersion } });
}

function ownedBy({ metadata }: Deployment, { cache }: ReconcileContext): readonly ReplicaSet[] {
  return cache.ownedBy(replicaSets, metadata.uid ?? '');
}

/** What was just written is in the cache. */
function selectedOf(deployment: Deployment, context: ReconcileContext): readonly ReplicaSet[] {
  const selector = labelSelectorOf(deployment.spec?.selector ?? {});
  return ownedBy(deployment, context).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
}
