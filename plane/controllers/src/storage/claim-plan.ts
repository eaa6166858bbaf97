import {
  bestVolumeFor,
  hasStorageClass,
  isVolumeOfClaim,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  storageAnnotations,
  storageClassOf,
  volumeMismatch,
} from '@castellan/machinery';
import type { EventNote } from '@castellan/runtime';

/** What there is around a claim. */
export interface ClaimSurroundings {
  /** All volumes that may be of interest to the claim: those of its class, and those that refer to it. */
  readonly volumes: readonly PersistentVolume[];
  volume(name: string): PersistentVolume | undefined;
  storageClass(name: string): StorageClass | undefined;
  /** Name of the class that claims get which say none. */
  readonly defaultClass: string | undefined;
  /** Names of the pods that use the claim and have no node yet. */
  readonly unscheduledPods: readonly string[];
}

export type ClaimPlan =
  | { readonly kind: 'bind'; readonly volume: PersistentVolume }
  | { readonly kind: 'assign class'; readonly className: string }
  /** Somebody else is to make a volume. */
  | { readonly kind: 'provision'; readonly provisioner: string }
  | { readonly kind: 'wait'; readonly event?: EventNote }
  /** For good: a volume that held the claim's data is gone. */
  | { readonly kind: 'lose'; readonly event: EventNote };

/** What is to be done for a claim. Pure. Source: syncClaim of kube-controller-manager's persistentvolume controller. */
export function planClaim(claim: PersistentVolumeClaim, around: ClaimSurroundings): ClaimPlan {
  const isBound = claim.metadata.annotations?.[storageAnnotations.bindCompleted] !== undefined;
  if (isBound) return planBound(claim, around);
  const volumeName = claim.spec?.volumeName ?? '';
  return volumeName === '' ? planOpen(claim, around) : planNamed(claim, around.volume(volumeName));
}

/** The claim does not say which volume. */
function planOpen(claim: PersistentVolumeClaim, around: ClaimSurroundings): ClaimPlan {
  const className = storageClassOf(claim);
  const storageClass = around.storageClass(className);
  const waitsForPod = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
  const volume = bestVolumeFor(claim, around.volumes, { onlyKept: waitsForPod });
  if (volume !== undefined) return { kind: 'bind', volume };
  if (!hasStorageClass(claim) && around.defaultClass !== undefined) {
    return { kind: 'assign class', className: around.defaultClass };
  }
  if (waitsForPod && claim.metadata.annotations?.[storageAnnotations.selectedNode] === undefined) {
    return { kind: 'wait', event: waitingForPod(around.unscheduledPods) };
  }
  if (className !== '') return planProvisioning(className, storageClass);
  return {
    kind: 'wait',
    event: normal('FailedBinding', 'no persistent volumes available for this claim and no storage class is set'),
  };
}

function waitingForPod(unscheduled: readonly string[]): EventNote {
  if (unscheduled.length === 0) {
    return normal('WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
  }
  const pods = unscheduled.length === 1 ? `pod ${unscheduled[0]}` : `pods ${unscheduled.join(',')}`;
  return normal('WaitForPodScheduled', `waiting for ${pods} to be scheduled`);
}

function planProvisioning(className: string, storageClass: StorageClass | undefined): ClaimPlan {
  if (storageClass === undefined) {
    const message = `storageclass.storage.k8s.io "${className}" not found`;
    return { kind: 'wait', event: warning('ProvisioningFailed', message) };
  }
  const { provisioner } = storageClass;
  // Names of this group were kube-controller-manager's own provisioners: nobody else makes volumes for them.
  if (!provisioner.startsWith('kubernetes.io/')) return { kind: 'provision', provisioner };
  return { kind: 'wait', event: warning('ProvisioningFailed', `no volume plugin matched name: ${provisioner}`) };
}

/** The claim asks for one volume. */
function planNamed(claim: PersistentVolumeClaim, volume: PersistentVolume | undefined): ClaimPlan {
  if (volume === undefined) return { kind: 'wait' };
  const { name } = volume.metadata;
  if (volume.spec?.claimRef === undefined) {
    const mismatch = volumeMismatch(volume, claim);
    if (mismatch === undefined) return { kind: 'bind', volume };
    return {
      kind: 'wait',
      event: warning('VolumeMismatch', `Cannot bind to requested volume "${name}": ${mismatch}`),
    };
  }
  if (isVolumeOfClaim(volume, claim)) return { kind: 'bind', volume };
  return { kind: 'wait', event: warning('FailedBinding', `volume "${name}" already bound to a different claim.`) };
}

/** The claim was bound before. Binding again mends what was not written when we were stopped in between. */
function planBound(claim: PersistentVolumeClaim, around: ClaimSurroundings): ClaimPlan {
  const volumeName = claim.spec?.volumeName ?? '';
  if (volumeName === '') {
    return lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
  }
  const volume = around.volume(volumeName);
  if (volume === undefined) {
    return lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
  }
  const reference = volume.spec?.claimRef;
  if (reference === undefined || reference.uid === claim.metadata.uid) return { kind: 'bind', volume };
  return lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
}

function lost(reason: string, message: string): ClaimPlan {
  return { kind: 'lose', event: warning(reason, message) };
}

function normal(reason: string, message: string): EventNote {
  return { type: 'Normal', reason, message };
}

function warning(reason: string, message: string): EventNote {
  return { type: 'Warning', reason, message };
}
