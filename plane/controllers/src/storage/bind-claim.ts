import {
  compareQuantities,
  deepEqual,
  isVolumeOfClaim,
  keyOf,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  storageAmount,
  storageAnnotations,
} from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';

/**
 * Binds claim and volume to each other: four writes, each only if it is not done yet and only to the version that was
 * looked at, so that being stopped after any of them leaves what the next call completes. The volume comes first: once
 * it refers to the claim, nobody else gets it.
 */
export async function bindClaim(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  context: ReconcileContext,
): Promise<void> {
  const taken = await takeVolume(volume, claim, context);
  await writePhase(taken, 'Bound', context);
  const named = await nameVolume(claim, volume, context);
  await writeBound(named, volume, context);
}

async function takeVolume(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim,
  { client, signal }: ReconcileContext,
): Promise<PersistentVolume> {
  const { namespace, name, uid, resourceVersion } = claim.metadata;
  if (volume.spec?.claimRef?.uid === uid) return volume;
  const annotations = isVolumeOfClaim(volume, claim)
    ? {}
    : { annotations: { [storageAnnotations.boundByController]: 'yes' } };
  const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
  const metadata = { resourceVersion: volume.metadata.resourceVersion, ...annotations };
  const body = { metadata, spec: { claimRef } };
  return await client.patch(persistentVolumes, keyOf(volume), { type: 'merge', body }, { signal });
}

/** A message stays with the phase that it explains. */
export async function writePhase(
  volume: PersistentVolume,
  phase: string,
  { client, signal }: ReconcileContext,
  message?: string,
): Promise<PersistentVolume> {
  if (volume.status?.phase === phase) return volume;
  const { resourceVersion } = volume.metadata;
  const body = { metadata: { resourceVersion }, status: { phase, message: message ?? null } };
  const patch = { type: 'merge', body } as const;
  return await client.patch(persistentVolumes, keyOf(volume), patch, { subresource: 'status', signal });
}

async function nameVolume(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  { client, signal }: ReconcileContext,
): Promise<PersistentVolumeClaim> {
  const { resourceVersion, annotations = {} } = claim.metadata;
  const isNamed = claim.spec?.volumeName === volume.metadata.name;
  if (isNamed && annotations[storageAnnotations.bindCompleted] !== undefined) return claim;
  const added = {
    [storageAnnotations.bindCompleted]: 'yes',
    ...(isNamed ? {} : { [storageAnnotations.boundByController]: 'yes' }),
  };
  const body = { metadata: { resourceVersion, annotations: added }, spec: { volumeName: volume.metadata.name } };
  return await client.patch(persistentVolumeClaims, keyOf(claim), { type: 'merge', body }, { signal });
}

/** Capacity is that of the volume when it is bound; later differences are an expansion under way. */
async function writeBound(
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { status = {} } = claim;
  const accessModes = volume.spec?.accessModes;
  const isBound = status.phase === 'Bound';
  if (isBound && deepEqual(status.accessModes, accessModes)) return;
  const isOtherSize =
    status.capacity?.storage === undefined ||
    compareQuantities(storageAmount(status.capacity), storageAmount(volume.spec?.capacity)) !== 0;
  const capacity = !isBound && isOtherSize ? { capacity: volume.spec?.capacity } : {};
  const { resourceVersion } = claim.metadata;
  const body = { metadata: { resourceVersion }, status: { phase: 'Bound', accessModes, ...capacity } };
  const patch = { type: 'merge', body } as const;
  await client.patch(persistentVolumeClaims, keyOf(claim), patch, { subresource: 'status', signal });
}
