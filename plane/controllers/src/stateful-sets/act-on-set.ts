import {
  formatKey,
  isStatusError,
  keyOf,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
} from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { errorText } from '../workloads/change-pods.js';
import { slowStart } from '../workloads/slow-start.js';
import { ownersAtFirst, planOwners } from './claim-owners.js';
import { newPod, repairedPod, type SetRevision } from './new-pod.js';
import { claimsOf, type SetParts } from './observe-set.js';
import { isWanted, type SetPlan, type SetStep } from './plan-set.js';
import { hasIdentity, podNameOf } from './pod-identity.js';

export interface Actor extends SetParts {
  /** By the name of the revision. */
  readonly revisions: ReadonlyMap<string, SetRevision>;
  readonly context: ReconcileContext;
}

/** Carries out a plan as far as it goes; gives what failed first. */
export async function actOnSet(actor: Actor, { phases }: SetPlan): Promise<unknown> {
  for (const steps of phases) {
    const failed = actor.view.isOrdered
      ? await inOrder(actor, steps)
      : await slowStart(steps, (step) => act(actor, step));
    if (failed !== undefined) return failed;
  }
  return undefined;
}

async function inOrder(actor: Actor, steps: readonly SetStep[]): Promise<unknown> {
  for (const step of steps) {
    try {
      await act(actor, step);
    } catch (error) {
      return error;
    }
  }
  return undefined;
}

async function act(actor: Actor, step: SetStep): Promise<void> {
  const { set, context } = actor;
  const name = podNameOf(set, step.ordinal);
  switch (step.kind) {
    case 'create':
      return await told('create', name, actor, () => createPod(actor, step.ordinal, step.revision));
    case 'repair':
      return await told('update', name, actor, () => repairPod(actor, step.ordinal));
    case 'delete':
      return await told('delete', name, actor, () => deletePod(actor.pods.get(step.ordinal), context));
  }
}

/** The events of what is done to pods, in the words of kube-controller-manager. */
async function told(
  verb: 'create' | 'update' | 'delete',
  pod: string,
  { set, context: { events } }: Actor,
  work: () => Promise<void>,
): Promise<void> {
  const what = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name}`;
  const reason = `${verb[0]?.toUpperCase()}${verb.slice(1)}`;
  try {
    await work();
  } catch (error) {
    // A pod of that name that the cache does not show yet: the next pass sees it.
    if (isStatusError(error, 'AlreadyExists')) throw error;
    const message = `${what} failed error: ${errorText(error)}`;
    events.record(set, { type: 'Warning', reason: `Failed${reason}`, message });
    throw error;
  }
  events.record(set, { type: 'Normal', reason: `Successful${reason}`, message: `${what} successful` });
}

async function createPod(actor: Actor, ordinal: number, revisionName: string): Promise<void> {
  const { set, revisions, context } = actor;
  const revision = revisions.get(revisionName);
  if (revision === undefined) throw new Error(`there is no ControllerRevision ${revisionName}`);
  await createClaims(actor, ordinal);
  await context.client.create(pods, newPod(set, revision, ordinal), { signal: context.signal });
}

async function repairPod(actor: Actor, ordinal: number): Promise<void> {
  const { set, view, context } = actor;
  const pod = actor.pods.get(ordinal);
  if (pod === undefined) return;
  const isCondemned = !isWanted(view, ordinal);
  if (pod.status?.phase === 'Pending' && !isCondemned) await createClaims(actor, ordinal);
  for (const { claim } of claimsOf(set, ordinal, context.cache)) {
    if (claim !== undefined) await writeOwners(actor, claim, pod, isCondemned);
  }
  if (isCondemned || hasIdentity(set, pod, ordinal)) return;
  await context.client.update(pods, repairedPod(set, pod, ordinal), { signal: context.signal });
}

async function deletePod(pod: Pod | undefined, { client, signal }: ReconcileContext): Promise<void> {
  if (pod === undefined) return;
  const { uid } = pod.metadata;
  try {
    await client.delete(pods, keyOf(pod), { ...(uid === undefined ? {} : { preconditions: { uid } }), signal });
  } catch (error) {
    // Another pod has the name by now: the one that was meant is gone.
    if (!isStatusError(error, 'Conflict')) throw error;
  }
}

/** @throws Error when one of them cannot be made, or is on its way out. */
async function createClaims(actor: Actor, ordinal: number): Promise<void> {
  const { set, context } = actor;
  for (const { name, template, claim } of claimsOf(set, ordinal, context.cache)) {
    if (claim?.metadata.deletionTimestamp !== undefined) throw new Error(`pvc ${name} is being deleted`);
    if (claim === undefined) await createClaim(actor, name, podNameOf(set, ordinal), template);
  }
}

async function createClaim(
  { set, view, context }: Actor,
  name: string,
  pod: string,
  template: PersistentVolumeClaim,
): Promise<void> {
  const owners = ownersAtFirst(set, view.retention);
  try {
    await context.client.create(persistentVolumeClaims, newClaim(set, name, template, owners), {
      signal: context.signal,
    });
    const message = `create Claim ${name} Pod ${pod} in StatefulSet ${set.metadata.name} success`;
    context.events.record(set, { type: 'Normal', reason: 'SuccessfulCreate', message });
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return;
    const message = `create Claim ${name} for Pod ${pod} in StatefulSet ${set.metadata.name} failed error: ${errorText(error)}`;
    context.events.record(set, { type: 'Warning', reason: 'FailedCreate', message });
    throw new Error(`failed to create PVC ${name}: ${errorText(error)}`, { cause: error });
  }
}

function newClaim(
  { metadata, spec }: StatefulSet,
  name: string,
  template: PersistentVolumeClaim,
  ownerReferences: ReturnType<typeof ownersAtFirst>,
): PersistentVolumeClaim {
  const { namespace = '' } = metadata;
  const labels = { ...template.metadata.labels, ...spec?.selector.matchLabels };
  return {
    metadata: { ...template.metadata, name, namespace, labels, ...(ownerReferences.length > 0 && { ownerReferences }) },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  };
}

async function writeOwners(
  { set, view, context }: Actor,
  claim: PersistentVolumeClaim,
  pod: Pod,
  isCondemned: boolean,
): Promise<void> {
  const plan = planOwners(claim, set, { pod, isCondemned }, view.retention);
  if (plan.kind === 'keep') return;
  const key = keyOf(claim);
  if (plan.kind === 'give up') {
    const message = `PersistentVolumeClaim ${key.name} has a conflicting OwnerReference that acts as a managing controller, the retention policy is ignored for this claim`;
    context.events.record(set, { type: 'Warning', reason: 'ConflictingController', message });
  }
  const { resourceVersion } = claim.metadata;
  const ownerReferences = plan.owners.length === 0 ? null : plan.owners;
  const patch = { type: 'merge', body: { metadata: { resourceVersion, ownerReferences } } } as const;
  try {
    await context.client.patch(persistentVolumeClaims, key, patch, { signal: context.signal });
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return;
    throw new Error(`could not update claim ${formatKey(key)} for delete policy ownerRefs: ${errorText(error)}`, {
      cause: error,
    });
  }
}
