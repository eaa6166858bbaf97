import {
  formatKey,
  isStatusError,
  keyOf,
  nodes,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  type StorageClass,
  storageAnnotations,
  storageClasses,
  storageClassOf,
} from '@castellan/machinery';
import { type Controller, type ReconcileContext, type ReconcileResult, watchSource } from '@castellan/runtime';
import { claimOf, localProvisioner, localVolume, nodeOfVolume, volumeNameOf } from './local-volume.js';
import { planProvisioning } from './provision-plan.js';
import type { LocalStorageOptions, VolumeStore } from './volume-store.js';

/** No watch tells that a node of this machine was started; looking costs no request. */
const lookForNodeMs = 2_000;
/** A disk may be exchanged for a larger one; no watch tells of it. */
const retryMs = 60_000;

/** Where no claim is: asks for what was left to be looked for. */
const leftovers: ObjectKey = { name: 'leftovers' };

/**
 * Makes the volumes that pods of this machine's nodes wait for, as directories. First the directory, where no pod sees
 * it, then the object, then the directory gets its name: stopped in between, the next pass goes on, and what belongs to no
 * claim any more is removed before anything was in it.
 */
export function localProvisionerController(options: LocalStorageOptions): Controller<PersistentVolumeClaim> {
  return {
    name: localProvisioner,
    for: persistentVolumeClaims,
    watches: [
      watchSource({ type: storageClasses, map: () => [] }),
      watchSource({ type: persistentVolumes, map: claimOf }),
      // Reports of nodes, one a minute: an occasion to look for what was left.
      watchSource({ type: nodes, map: () => [leftovers] }),
    ],
    concurrency: 1,
    async reconcile(key, context) {
      const claim = key.namespace === undefined ? undefined : context.cache.get(persistentVolumeClaims, key);
      if (claim === undefined) {
        await removeUnused(options, context);
        if (key.namespace === undefined) await options.volumes.completeRemovals();
        return undefined;
      }
      const name = volumeNameOf(claim);
      const made = context.cache.get(persistentVolumes, { name });
      if (made === undefined) return await provision(claim, options, context);
      if (isHere(made, options)) options.volumes.publish(name);
      return undefined;
    },
  };
}

function isHere(volume: PersistentVolume, { runningNodes }: LocalStorageOptions): boolean {
  return runningNodes().includes(nodeOfVolume(volume) ?? '');
}

async function provision(
  claim: PersistentVolumeClaim,
  options: LocalStorageOptions,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const { volumes } = options;
  const storageClass = context.cache.get(storageClasses, { name: storageClassOf(claim) });
  const runningNodes = options.runningNodes();
  const openNodes = runningNodes.filter((name) => context.cache.get(nodes, { name })?.spec?.unschedulable !== true);
  const around = { storageClass, runningNodes, openNodes, totalBytes: () => volumes.totalBytes() };
  const plan = planProvisioning(claim, around);
  if (plan.kind === 'leave' || storageClass === undefined) return undefined;
  if (plan.kind === 'wait') {
    await giveUpLostNode(claim, context);
    return { requeueAfterMs: lookForNodeMs };
  }
  if (plan.kind === 'refuse') {
    fail(claim, storageClass, plan.reason, context);
    if (plan.mayFitElsewhere) await select(claim, null, context);
    return plan.mayFitElsewhere ? undefined : { requeueAfterMs: retryMs };
  }
  const taken = plan.kind === 'take' ? await select(claim, plan.nodeName, context) : claim;
  const place = { nodeName: plan.nodeName, path: volumes.pathOf(volumeNameOf(claim)) };
  if (taken !== undefined) await make(localVolume(taken, storageClass, place), taken, volumes, context);
  return undefined;
}

/** A node that was chosen and is no more makes no volumes: the scheduler is to choose again. */
async function giveUpLostNode(claim: PersistentVolumeClaim, context: ReconcileContext): Promise<void> {
  const { cache, client, signal } = context;
  const name = claim.metadata.annotations?.[storageAnnotations.selectedNode];
  if (name === undefined || cache.get(nodes, { name }) !== undefined) return;
  // The cache may be behind.
  if ((await client.find(nodes, { name }, { signal })) === undefined) await select(claim, null, context);
}

async function make(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  volumes: VolumeStore,
  { client, events, signal }: ReconcileContext,
): Promise<void> {
  const { name } = keyOf(volume);
  const starting = `External provisioner is provisioning volume for claim "${formatKey(keyOf(claim))}"`;
  events.record(claim, { type: 'Normal', reason: 'Provisioning', message: starting });
  try {
    volumes.prepare(name);
    await client.create(persistentVolumes, volume, { signal });
    volumes.publish(name);
  } catch (error) {
    // Made by an earlier pass whose reply was lost: the watch brings it, and the pass after that goes on.
    if (isStatusError(error, 'AlreadyExists')) return;
    throw error;
  }
  const message = `Successfully provisioned volume ${name}`;
  events.record(claim, { type: 'Normal', reason: 'ProvisioningSucceeded', message });
}

function fail(claim: PersistentVolumeClaim, { metadata }: StorageClass, reason: string, context: ReconcileContext) {
  const message = `failed to provision volume with StorageClass "${metadata.name}": ${reason}`;
  context.events.record(claim, { type: 'Warning', reason: 'ProvisioningFailed', message });
}

/** Of several nodes that want a claim the first to write gets it; `null` gives it back to the scheduler. */
async function select(
  claim: PersistentVolumeClaim,
  nodeName: string | null,
  { client, signal }: ReconcileContext,
): Promise<PersistentVolumeClaim | undefined> {
  const { resourceVersion } = claim.metadata;
  const body = { metadata: { resourceVersion, annotations: { [storageAnnotations.selectedNode]: nodeName } } };
  try {
    return await client.patch(persistentVolumeClaims, keyOf(claim), { type: 'merge', body }, { signal });
  } catch (error) {
    // It was written meanwhile, and is looked at again for that.
    if (isStatusError(error, 'Conflict', 'NotFound')) return undefined;
    throw error;
  }
}

/** Directories that were prepared for claims which went before they had a volume; those that have one are published. */
async function removeUnused(options: LocalStorageOptions, { cache }: ReconcileContext): Promise<void> {
  const { volumes } = options;
  const prepared = volumes.prepared();
  if (prepared.length === 0) return;
  const wanted = new Set(cache.list(persistentVolumeClaims).map(volumeNameOf));
  for (const name of prepared) {
    if (cache.get(persistentVolumes, { name }) !== undefined) volumes.publish(name);
    else if (!wanted.has(name)) await volumes.remove(name);
  }
}
