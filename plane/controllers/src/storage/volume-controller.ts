import {
  isStatusError,
  keyOf,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  storageAnnotations,
} from '@castellan/machinery';
import { type ChannelSource, type Controller, type ReconcileContext, watchSource } from '@castellan/runtime';
import { writePhase } from './bind-claim.js';
import { claimReferredTo } from './claim-reference.js';
import { planVolume } from './volume-plan.js';

/**
 * Keeps the phase of volumes, and gives free those whose claim has another one. Through `released` come volumes whose claim
 * is gone, which the claim itself may never have named.
 */
export function volumeController(released: ChannelSource): Controller<PersistentVolume> {
  return {
    name: 'persistentvolume-phases',
    for: persistentVolumes,
    watches: [
      watchSource({
        type: persistentVolumeClaims,
        map: ({ spec }) => ((spec?.volumeName ?? '') === '' ? [] : [{ name: spec?.volumeName ?? '' }]),
      }),
    ],
    channels: [released],
    concurrency: 4,
    async reconcile(key, context) {
      const volume = context.cache.get(persistentVolumes, key);
      if (volume === undefined) return undefined;
      const claim = await claimOf(volume, context);
      try {
        await carryOut(volume, claim, context);
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
      return undefined;
    },
  };
}

/** A claim that the cache does not show may be new: nothing is released before the server has said that it is gone. */
async function claimOf(
  volume: PersistentVolume,
  { cache, client, signal }: ReconcileContext,
): Promise<PersistentVolumeClaim | undefined> {
  const key = claimReferredTo(volume);
  const uid = volume.spec?.claimRef?.uid ?? '';
  if (key === undefined || uid === '') return undefined;
  const cached = cache.get(persistentVolumeClaims, key);
  if (cached?.metadata.uid === uid) return cached;
  const isReleased = volume.status?.phase === 'Released' || volume.status?.phase === 'Failed';
  const live = isReleased ? undefined : await client.find(persistentVolumeClaims, key, { signal });
  return live?.metadata.uid === uid ? live : undefined;
}

async function carryOut(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
  context: ReconcileContext,
): Promise<void> {
  const plan = planVolume(volume, claim);
  switch (plan.kind) {
    case 'phase': {
      if (plan.event !== undefined && volume.status?.phase !== plan.phase) context.events.record(volume, plan.event);
      const written = await writePhase(volume, plan.phase, context, plan.event?.message);
      // What Released leads to is decided from there.
      if (plan.phase === 'Released' && written !== volume) await carryOut(written, claim, context);
      return;
    }
    case 'unbind':
      return await unbind(volume, context);
    case 'leave':
      if (plan.volumeEvent !== undefined) context.events.record(volume, plan.volumeEvent);
      if (claim !== undefined && plan.claimEvent !== undefined) context.events.record(claim, plan.claimEvent);
      return;
  }
}

/** What a controller chose is free again; what a person chose stays kept for that claim, and is bound no more. */
async function unbind(volume: PersistentVolume, context: ReconcileContext): Promise<void> {
  const { client, signal } = context;
  const { annotations = {}, resourceVersion } = volume.metadata;
  const isOurs = annotations[storageAnnotations.boundByController] !== undefined;
  const body = isOurs
    ? {
        metadata: { resourceVersion, annotations: { [storageAnnotations.boundByController]: null } },
        spec: { claimRef: null },
      }
    : { metadata: { resourceVersion }, spec: { claimRef: { uid: null } } };
  const written = await client.patch(persistentVolumes, keyOf(volume), { type: 'merge', body }, { signal });
  await writePhase(written, 'Available', context);
}
