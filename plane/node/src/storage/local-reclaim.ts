import { isStatusError, type PersistentVolume, persistentVolumes } from '@castellan/machinery';
import type { Controller, ReconcileContext } from '@castellan/runtime';
import { deletionFinalizer, nodeOfVolume } from './local-volume.js';
import type { LocalStorageOptions, VolumeStore } from './volume-store.js';

/** No watch tells that a node of this machine was started; looking costs no request. */
const lookForNodeMs = 30_000;
/** A volume may hold a million files. */
const deadlineMs = 10 * 60_000;

/**
 * Deletes volumes of this machine's nodes that nobody claims any more, if that is their reclaim policy: the directory first,
 * then the object, so that none is forgotten.
 */
export function localReclaimController({ runningNodes, volumes }: LocalStorageOptions): Controller<PersistentVolume> {
  return {
    name: 'local-volume-reclaim',
    for: persistentVolumes,
    concurrency: 2,
    deadlineMs,
    async reconcile(key, context) {
      const volume = context.cache.get(persistentVolumes, key);
      const nodeName = volume === undefined ? undefined : nodeOfVolume(volume);
      if (volume === undefined || nodeName === undefined) return undefined;
      if (!runningNodes().includes(nodeName)) return { requeueAfterMs: lookForNodeMs };
      const isDeletedWithClaim = volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
      if (isDeletedWithClaim && volume.status?.phase === 'Released') {
        await reclaim(volume, key.name, volumes, context);
      } else {
        await keepFinalizer(volume, isDeletedWithClaim, context);
      }
      return undefined;
    },
  };
}

async function reclaim(
  volume: PersistentVolume,
  name: string,
  volumes: VolumeStore,
  context: ReconcileContext,
): Promise<void> {
  const { client, events, signal } = context;
  const { uid } = volume.metadata;
  try {
    // What is removed follows from the name alone, never from what somebody may have written into the object.
    if (volume.spec?.local?.path !== volumes.pathOf(name)) {
      throw new Error(`its path is not ${volumes.pathOf(name)}; next: remove what it stands for by hand`);
    }
    await volumes.remove(name);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    events.record(volume, { type: 'Warning', reason: 'VolumeFailedDelete', message });
    throw error;
  }
  // Marked as going it comes again, and is let go then.
  if (volume.metadata.deletionTimestamp !== undefined) return await keepFinalizer(volume, false, context);
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  await client.delete(persistentVolumes, { name }, { ...preconditions, signal });
}

async function keepFinalizer(
  volume: PersistentVolume,
  isWanted: boolean,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { name = '', resourceVersion, finalizers = [], deletionTimestamp } = volume.metadata;
  if (finalizers.includes(deletionFinalizer) === isWanted || (isWanted && deletionTimestamp !== undefined)) return;
  const others = finalizers.filter((each) => each !== deletionFinalizer);
  const next = isWanted ? [...others, deletionFinalizer] : others;
  const body = { metadata: { resourceVersion, finalizers: next.length === 0 ? null : next } };
  try {
    await client.patch(persistentVolumes, { name }, { type: 'merge', body }, { signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
