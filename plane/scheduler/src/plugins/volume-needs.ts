import {
  bestVolumeFor,
  claimOfVolume,
  compareQuantities,
  formatKey,
  keyOf,
  matchesNodeSelector,
  type Node,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  type StorageClass,
  storageAmount,
  storageAnnotations,
  storageClasses,
  storageClassOf,
} from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';

/** What a pod's claims ask of a node. */
export interface VolumeNeeds {
  /** Of claims that are bound; `undefined` for a volume that is not there. */
  readonly bound: readonly (PersistentVolume | undefined)[];
  /** Claims that wait for a pod, smallest first, with the volumes that one of them might get. */
  readonly open: readonly OpenClaim[];
}

export interface OpenClaim {
  readonly claim: PersistentVolumeClaim;
  readonly storageClass: StorageClass | undefined;
  /** Of the claim's class, and not promised to another pod's. */
  readonly volumes: readonly PersistentVolume[];
  /** Where its volume is being made. */
  readonly selectedNode: string | undefined;
}

/** What is to be done for a pod's claims when it goes to a node. */
export interface VolumePlan {
  readonly bindings: readonly { readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }[];
  /** Claims for which a volume is to be made on the node. */
  readonly provisions: readonly PersistentVolumeClaim[];
}

/** What other placements have taken that the cache does not show yet. */
export interface PromisedVolumes {
  /** The claim that a volume is promised to, by its key. */
  claimOf(volumeName: string): string | undefined;
  /** The node on which a claim's volume will be made. */
  nodeOf(claimKey: string): string | undefined;
}

const noProvisioner = 'kubernetes.io/no-provisioner';

/** Bound for good, as far as a pod is concerned. */
export function isFullyBound({ metadata, spec }: PersistentVolumeClaim): boolean {
  return (spec?.volumeName ?? '') !== '' && metadata.annotations?.[storageAnnotations.bindCompleted] !== undefined;
}

/** What a pod's claims ask of nodes; a text where no node will do. `undefined`: it has none. */
export function volumeNeeds(pod: Pod, cache: Reader, promised: PromisedVolumes): VolumeNeeds | string | undefined {
  const claims: PersistentVolumeClaim[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    const key = claimOfVolume(pod, volume);
    if (key === undefined) continue;
    const claim = cache.get(persistentVolumeClaims, key);
    const isEphemeral = volume.ephemeral !== undefined;
    if (claim === undefined) {
      return isEphemeral
        ? `waiting for ephemeral volume controller to create the persistentvolumeclaim "${key.name}"`
        : `persistentvolumeclaim "${key.name}" not found`;
    }
    const problem = problemOf(claim) ?? (isEphemeral ? strangerProblem(claim, pod) : undefined);
    if (problem !== undefined) return problem;
    claims.push(claim);
  }
  return claims.length === 0 ? undefined : needsOf(claims, cache, promised);
}

function problemOf({ metadata, spec, status }: PersistentVolumeClaim): string | undefined {
  if (status?.phase === 'Lost') {
    return `persistentvolumeclaim "${metadata.name}" bound to non-existent persistentvolume "${spec?.volumeName ?? ''}"`;
  }
  return metadata.deletionTimestamp === undefined
    ? undefined
    : `persistentvolumeclaim "${metadata.name}" is being deleted`;
}

function strangerProblem(claim: PersistentVolumeClaim, pod: Pod): string | undefined {
  const isOwned = claim.metadata.ownerReferences?.some(
    ({ controller, uid }) => controller === true && uid === pod.metadata.uid,
  );
  if (isOwned === true) return undefined;
  return `PVC ${formatKey(keyOf(claim))} was not created for pod ${formatKey(keyOf(pod))} (pod is not owner)`;
}

function needsOf(
  claims: readonly PersistentVolumeClaim[],
  cache: Reader,
  promised: PromisedVolumes,
): VolumeNeeds | string {
  const bound = claims.filter(isFullyBound);
  const others = claims.filter((claim) => !isFullyBound(claim));
  const open: OpenClaim[] = [];
  for (const claim of others) {
    const className = storageClassOf(claim);
    const storageClass = className === '' ? undefined : cache.get(storageClasses, { name: className });
    const waitsForPod = storageClass?.volumeBindingMode === 'WaitForFirstConsumer';
    if (!waitsForPod || (claim.spec?.volumeName ?? '') !== '') {
      return 'pod has unbound immediate PersistentVolumeClaims';
    }
    const key = formatKey(keyOf(claim));
    const selectedNode = claim.metadata.annotations?.[storageAnnotations.selectedNode] ?? promised.nodeOf(key);
    const volumes = cache.list(persistentVolumes).filter(({ metadata }) => {
      const holder = promised.claimOf(metadata.name ?? '');
      return holder === undefined || holder === key;
    });
    open.push({ claim, storageClass, volumes, selectedNode });
  }
  return {
    bound: bound.map(({ spec }) => cache.get(persistentVolumes, { name: spec?.volumeName ?? '' })),
    open: open.sort((a, b) => compareQuantities(asked(a), asked(b))),
  };
}

function asked({ claim }: OpenClaim) {
  return storageAmount(claim.spec?.resources?.requests);
}

/** What is to be done on this node, or why the pod cannot run there; in upstream's words. Pure. */
export function volumePlan(needs: VolumeNeeds, node: Node): VolumePlan | readonly string[] {
  const reasons: string[] = [];
  if (needs.bound.some((volume) => volume !== undefined && !isReachable(volume, node))) {
    reasons.push("node(s) didn't match PersistentVolume's node affinity");
  }
  const plan = planOpen(needs.open, node);
  if (plan === undefined) reasons.push("node(s) didn't find available persistent volumes to bind");
  if (needs.bound.includes(undefined)) {
    reasons.push('node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)');
  }
  return plan === undefined || reasons.length > 0 ? reasons : plan;
}

export function isReachable({ spec }: PersistentVolume, node: Node): boolean {
  const required = spec?.nodeAffinity?.required;
  return required === undefined || matchesNodeSelector(required, node);
}

function planOpen(open: readonly OpenClaim[], node: Node): VolumePlan | undefined {
  const bindings: { claim: PersistentVolumeClaim; volume: PersistentVolume }[] = [];
  const provisions: PersistentVolumeClaim[] = [];
  for (const { claim, storageClass, volumes, selectedNode } of open) {
    if (selectedNode !== undefined && selectedNode !== node.metadata.name) return undefined;
    const free = volumes.filter((volume) => !bindings.some((binding) => binding.volume === volume));
    const volume =
      selectedNode === undefined
        ? bestVolumeFor(claim, free, { isReachable: (each) => isReachable(each, node) })
        : undefined;
    if (volume !== undefined) bindings.push({ claim, volume });
    else if (storageClass !== undefined && isProvisionedOn(storageClass, node)) provisions.push(claim);
    else return undefined;
  }
  return { bindings, provisions };
}

function isProvisionedOn({ provisioner, allowedTopologies = [] }: StorageClass, node: Node): boolean {
  if (provisioner === '' || provisioner === noProvisioner) return false;
  const labels = node.metadata.labels ?? {};
  return (
    allowedTopologies.length === 0 ||
    allowedTopologies.some(({ matchLabelExpressions = [] }) =>
      matchLabelExpressions.every(({ key, values }) => values.includes(labels[key] ?? '')),
    )
  );
}
