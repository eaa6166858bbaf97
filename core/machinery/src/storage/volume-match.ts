import type { PersistentVolume, PersistentVolumeClaim } from '../kinds/built-in.js';
import { labelSelectorOf, matchesLabels } from '../selector/label-selector.js';
import { compareQuantities, parseQuantity, type Quantity } from '../value/quantity.js';
import { storageAnnotations } from './storage-annotations.js';

/** The class of a claim or a volume; empty when it has none. A claim may also be open as to its class: see `hasClass`. */
export function storageClassOf({ metadata, spec }: PersistentVolumeClaim | PersistentVolume): string {
  return metadata.annotations?.[storageAnnotations.betaClass] ?? spec?.storageClassName ?? '';
}

/** Whether a claim says its class. An empty one is a wish too: for a volume without a class. */
export function hasStorageClass({ metadata, spec }: PersistentVolumeClaim): boolean {
  return metadata.annotations?.[storageAnnotations.betaClass] !== undefined || spec?.storageClassName !== undefined;
}

/** What a claim asks for, or what a volume has, in bytes. */
export function storageAmount(amounts: Readonly<Record<string, string>> | undefined): Quantity {
  return parseQuantity(amounts?.storage ?? '0');
}

/**
 * Whether a volume is bound to this claim, or kept for it: by a reference without a uid, or with its own. A claim of
 * the same name that was made later is another claim.
 */
export function isVolumeOfClaim({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const reference = spec?.claimRef;
  return (
    reference !== undefined &&
    reference.name === metadata.name &&
    reference.namespace === metadata.namespace &&
    ((reference.uid ?? '') === '' || reference.uid === metadata.uid)
  );
}

/** Why a volume that a claim names cannot be given to it, in kube-controller-manager's words. */
export function volumeMismatch(volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (volume.metadata.deletionTimestamp !== undefined) {
    return `the volume is marked for deletion "${volume.metadata.name}"`;
  }
  if (!isLargeEnough(volume, claim)) return 'requested PV is too small';
  if (storageClassOf(volume) !== storageClassOf(claim)) return 'storageClassName does not match';
  if (!isSameMode(volume, claim)) return 'incompatible volumeMode';
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode';
}

export interface VolumeChoice {
  /** Only what is kept for the claim already counts: its class waits for the first pod, and the scheduler chooses. */
  readonly onlyKept?: boolean;
  /** Where the scheduler looks: whether a volume can be reached from there. */
  isReachable?(volume: PersistentVolume): boolean;
}

/**
 * The volume that a claim without one gets: the one that is kept for it; else of those that are free and have what it asks
 * for the one with the fewest access modes, and of these the smallest. Pure. Source: component-helpers' FindMatchingVolume.
 */
export function bestVolumeFor(
  claim: PersistentVolumeClaim,
  volumes: readonly PersistentVolume[],
  { onlyKept = false, isReachable = () => true }: VolumeChoice = {},
): PersistentVolume | undefined {
  const able = volumes.filter(
    (volume) =>
      volume.metadata.deletionTimestamp === undefined &&
      isLargeEnough(volume, claim) &&
      isSameMode(volume, claim) &&
      hasAccessModes(volume, claim),
  );
  const kept = able.find((volume) => isVolumeOfClaim(volume, claim));
  if (kept !== undefined) return isReachable(kept) ? kept : undefined;
  if (onlyKept) return undefined;
  const selector = claim.spec?.selector === undefined ? [] : labelSelectorOf(claim.spec.selector);
  const className = storageClassOf(claim);
  const free = able.filter(
    (volume) =>
      volume.spec?.claimRef === undefined &&
      volume.status?.phase === 'Available' &&
      storageClassOf(volume) === className &&
      matchesLabels(selector, volume.metadata.labels) &&
      isReachable(volume),
  );
  return [...free].sort(compareVolumes)[0];
}

function compareVolumes(a: PersistentVolume, b: PersistentVolume): number {
  const modes = (a.spec?.accessModes ?? []).length - (b.spec?.accessModes ?? []).length;
  if (modes !== 0) return modes;
  const size = compareQuantities(storageAmount(a.spec?.capacity), storageAmount(b.spec?.capacity));
  return size !== 0 ? size : (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

function isLargeEnough(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const asked = storageAmount(claim.spec?.resources?.requests);
  return compareQuantities(storageAmount(volume.spec?.capacity), asked) >= 0;
}

function isSameMode(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  return (volume.spec?.volumeMode ?? 'Filesystem') === (claim.spec?.volumeMode ?? 'Filesystem');
}

function hasAccessModes(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const offered = volume.spec?.accessModes ?? [];
  return (claim.spec?.accessModes ?? []).every((mode) => offered.includes(mode));
}
