import { existsSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import {
  claimOfVolume,
  isVolumeOfClaim,
  matchesNodeSelector,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type Volume,
} from '@castellan/machinery';
import { giveGroup } from './group-ownership.js';
import type { VolumeSources } from './projected-files.js';
import { VolumeError } from './volume-error.js';

/**
 * Finds the directory of the volume that a pod's claim is bound to, and leaves a link to it at `path`, so that a later agent
 * knows it without asking. Throws a VolumeError while the claim is not bound, or when what it is bound to is not here.
 */
export async function linkClaim(path: string, volume: Volume, sources: VolumeSources): Promise<void> {
  const { pod } = sources;
  const key = claimOfVolume(pod, volume);
  if (key === undefined) return;
  const known = existsSync(path) ? claimDirectory(path) : undefined;
  try {
    const claim = await sources.claim(key.name);
    const persistent = await boundVolume(claim, { pod, volume, name: key.name, isInUse: known !== undefined }, sources);
    const directory = await directoryOf(persistent, sources);
    if (known !== directory) link(path, directory);
    const group = pod.spec?.securityContext?.fsGroup;
    const isReadOnly = volume.persistentVolumeClaim?.readOnly === true;
    if (group !== undefined && !isReadOnly && persistent.spec?.hostPath === undefined) {
      await giveGroup(directory, group, pod.spec?.securityContext?.fsGroupChangePolicy);
    }
  } catch (error) {
    if (!(error instanceof VolumeError)) throw error;
    throw new VolumeError(`error processing PVC ${key.namespace}/${key.name}: ${error.message}`, { cause: error });
  }
}

/** Where the link leads that `linkClaim` has left. */
export function claimDirectory(path: string): string {
  return readlinkSync(path);
}

interface ClaimUse {
  readonly pod: Pod;
  readonly volume: Volume;
  readonly name: string;
  /** The pod had the volume before: what is going stays until it has ended. */
  readonly isInUse: boolean;
}

async function boundVolume(
  claim: PersistentVolumeClaim | undefined,
  { pod, volume, name, isInUse }: ClaimUse,
  sources: VolumeSources,
): Promise<PersistentVolume> {
  if (claim === undefined) throw new VolumeError(`persistentvolumeclaim "${name}" not found`);
  if (volume.ephemeral !== undefined && !isOwnedBy(claim, pod)) {
    throw new VolumeError(`PVC was not created for pod "${pod.metadata.name}" (pod is not owner)`);
  }
  if (claim.metadata.deletionTimestamp !== undefined && !isInUse) throw new VolumeError('PVC is being deleted');
  const volumeName = claim.spec?.volumeName ?? '';
  if (claim.status?.phase !== 'Bound' || volumeName === '') throw new VolumeError('PVC is not bound');
  if (claim.spec?.volumeMode === 'Block') {
    throw new VolumeError('this node does not offer volumes as block devices; next: use volumeMode Filesystem');
  }
  const persistent = await sources.persistentVolume(volumeName);
  if (persistent === undefined) throw new VolumeError(`persistentvolume "${volumeName}" not found`);
  if (!isVolumeOfClaim(persistent, claim)) {
    throw new VolumeError(`persistentvolume "${volumeName}" is bound to another claim`);
  }
  return persistent;
}

function isOwnedBy({ metadata }: PersistentVolumeClaim, pod: Pod): boolean {
  return (
    metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === pod.metadata.uid) === true
  );
}

async function directoryOf({ metadata, spec }: PersistentVolume, sources: VolumeSources): Promise<string> {
  const required = spec?.nodeAffinity?.required;
  const node = required === undefined ? undefined : await sources.node();
  if (required !== undefined && (node === undefined || !matchesNodeSelector(required, node))) {
    throw new VolumeError(
      `MountVolume.NodeAffinity check failed for volume "${metadata.name}": no matching NodeSelectorTerms`,
    );
  }
  const path = spec?.local?.path ?? spec?.hostPath?.path;
  if (path === undefined) {
    throw new VolumeError(
      `volume "${metadata.name}" is not of a kind that this node offers; next: use local or hostPath`,
    );
  }
  // As container runtimes do for a path of the machine that nobody has made.
  if (spec?.hostPath !== undefined && (spec.hostPath.type ?? '') === '') mkdirSync(path, { recursive: true });
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new VolumeError(`volume "${metadata.name}": path "${path}" is not a directory of this machine`);
  }
  return path;
}

/** Over whatever was there: an older volume of a claim that was made anew, say. */
function link(path: string, directory: string): void {
  const fresh = `${path}.new`;
  if (lstatSync(fresh, { throwIfNoEntry: false }) !== undefined) rmSync(fresh);
  symlinkSync(directory, fresh);
  renameSync(fresh, path);
}
