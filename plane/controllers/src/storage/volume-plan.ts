import { type PersistentVolume, type PersistentVolumeClaim, storageAnnotations } from '@castellan/machinery';
import type { EventNote } from '@castellan/runtime';

export type VolumePhase = 'Available' | 'Bound' | 'Released' | 'Failed';

export type VolumePlan =
  | { readonly kind: 'phase'; readonly phase: VolumePhase; readonly event?: EventNote }
  /** The claim has another volume: this one is given free. */
  | { readonly kind: 'unbind' }
  /** The claim is not bound yet: its own controller does that. */
  | { readonly kind: 'leave'; readonly volumeEvent?: EventNote; readonly claimEvent?: EventNote };

/**
 * What is to be done with a volume; `claim` is the one it refers to, by uid. Pure. What Released leads to is the
 * provisioner's work. Source: syncVolume of kube-controller-manager's persistentvolume controller.
 */
export function planVolume(volume: PersistentVolume, claim: PersistentVolumeClaim | undefined): VolumePlan {
  if ((volume.spec?.claimRef?.uid ?? '') === '') return { kind: 'phase', phase: 'Available' };
  if (claim === undefined) return planReleased(volume);
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName === volume.metadata.name) return { kind: 'phase', phase: 'Bound' };
  if (volumeName === '') return planUnfinished(volume, claim);
  const wasMadeForClaim = volume.metadata.annotations?.[storageAnnotations.provisionedBy] !== undefined;
  const isToBeDeleted = volume.spec?.persistentVolumeReclaimPolicy === 'Delete';
  return wasMadeForClaim && isToBeDeleted ? planReleased(volume) : { kind: 'unbind' };
}

/** Retained volumes wait for a person; those of a provisioner for it; nobody deletes or empties others. */
function planReleased({ metadata, spec, status }: PersistentVolume): VolumePlan {
  const hasDeleter = (metadata.annotations?.[storageAnnotations.provisionedBy] ?? '') !== '' || spec?.csi !== undefined;
  switch (status?.phase === 'Released' || status?.phase === 'Failed' ? spec?.persistentVolumeReclaimPolicy : 'Retain') {
    case 'Delete':
      if (hasDeleter) break;
      return failed(
        'VolumeFailedDelete',
        `error getting deleter volume plugin for volume "${metadata.name}": no deletable volume plugin matched`,
      );
    case 'Recycle':
      return failed('VolumeFailedRecycle', 'No recycler plugin found for the volume!');
  }
  return { kind: 'phase', phase: status?.phase === 'Failed' ? 'Failed' : 'Released' };
}

function failed(reason: string, message: string): VolumePlan {
  return { kind: 'phase', phase: 'Failed', event: { type: 'Warning', reason, message } };
}

function planUnfinished(volume: PersistentVolume, claim: PersistentVolumeClaim): VolumePlan {
  if ((volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem')) return { kind: 'leave' };
  const mismatch = (message: string): EventNote => ({ type: 'Warning', reason: 'VolumeMismatch', message });
  const why = 'due to incompatible volumeMode.';
  return {
    kind: 'leave',
    volumeEvent: mismatch(
      `Cannot bind PersistentVolume to requested PersistentVolumeClaim "${claim.metadata.name}" ${why}`,
    ),
    claimEvent: mismatch(
      `Cannot bind PersistentVolume "${volume.metadata.name}" to requested PersistentVolumeClaim ${why}`,
    ),
  };
}
