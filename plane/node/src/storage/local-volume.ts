import {
  keyOf,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  storageAnnotations,
} from '@castellan/machinery';

/** Named by the storage classes `local` and `local-immediate`. */
export const localProvisioner = 'castellan.dev/local';

/** Holds a volume until its directory is removed, as external provisioners do, also where the object is deleted first. */
export const deletionFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer';

const hostnameLabel = 'kubernetes.io/hostname';

/** After the claim's uid: a claim that is asked for twice has one volume. */
export function volumeNameOf({ metadata }: PersistentVolumeClaim): string {
  return `pvc-${metadata.uid ?? ''}`;
}

export interface VolumePlace {
  readonly path: string;
  readonly nodeName: string;
}

/** The volume for a claim, kept for it from its first moment, on one node for its life. */
export function localVolume(
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  { path, nodeName }: VolumePlace,
): PersistentVolume {
  const { accessModes = [], volumeMode, resources } = claim.spec ?? {};
  const { namespace, name } = keyOf(claim);
  const { uid, resourceVersion } = claim.metadata;
  const reclaimPolicy = storageClass.reclaimPolicy ?? 'Delete';
  const onNode = { key: hostnameLabel, operator: 'In', values: [nodeName] };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name: volumeNameOf(claim),
      annotations: { [storageAnnotations.provisionedBy]: localProvisioner },
      ...(reclaimPolicy === 'Delete' ? { finalizers: [deletionFinalizer] } : {}),
    },
    spec: {
      accessModes,
      capacity: { storage: resources?.requests?.storage ?? '0' },
      claimRef: {
        ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim' },
        ...{ namespace: namespace ?? '', name },
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      local: { path },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onNode] }] } },
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name ?? '',
      ...(volumeMode === undefined ? {} : { volumeMode }),
    },
  };
}

/** The node on which this provisioner has made a volume; `undefined` for volumes of others. */
export function nodeOfVolume({ metadata, spec }: PersistentVolume): string | undefined {
  if (metadata.annotations?.[storageAnnotations.provisionedBy] !== localProvisioner) return undefined;
  const terms = spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const requirements = terms.flatMap(({ matchExpressions = [] }) => matchExpressions);
  return requirements.find(({ key }) => key === hostnameLabel)?.values?.[0];
}

/** The claim that a volume refers to. */
export function claimOf({ spec }: PersistentVolume): readonly ObjectKey[] {
  const { namespace, name } = spec?.claimRef ?? {};
  return namespace === undefined || name === undefined ? [] : [{ namespace, name }];
}
