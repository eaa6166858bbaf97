import { at, isRecord, type JsonRecord, records, text } from '../json.js';

/** What a pod names of the API besides itself, and so the node that runs it may read. */
export interface PodReferences {
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  readonly claims: ReadonlySet<string>;
  readonly resourceClaims: ReadonlySet<string>;
  readonly serviceAccount: string;
}

/** Volumes of these kinds name a secret in a field of theirs. */
const secretFields: readonly (readonly string[])[] = [
  ['secret', 'secretName'],
  ['azureFile', 'secretName'],
  ['csi', 'nodePublishSecretRef', 'name'],
  ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map((kind) => [
    kind,
    'secretRef',
    'name',
  ]),
];

export function referencesOf(pod: JsonRecord): PodReferences {
  const spec = at(pod, 'spec');
  const secrets = new Set<string>();
  const configMaps = new Set<string>();
  const claims = new Set<string>();
  const add = (names: Set<string>, name: unknown) => {
    if (typeof name === 'string' && name !== '') names.add(name);
  };
  for (const { name } of records(at(spec, 'imagePullSecrets'))) add(secrets, name);
  for (const field of ['containers', 'initContainers', 'ephemeralContainers']) {
    for (const container of records(at(spec, field))) {
      for (const from of records(container.envFrom)) {
        add(secrets, at(from, 'secretRef', 'name'));
        add(configMaps, at(from, 'configMapRef', 'name'));
      }
      for (const variable of records(container.env)) {
        add(secrets, at(variable, 'valueFrom', 'secretKeyRef', 'name'));
        add(configMaps, at(variable, 'valueFrom', 'configMapKeyRef', 'name'));
      }
    }
  }
  for (const volume of records(at(spec, 'volumes'))) {
    for (const path of secretFields) add(secrets, at(volume, ...path));
    add(configMaps, at(volume, 'configMap', 'name'));
    add(claims, at(volume, 'persistentVolumeClaim', 'claimName'));
    if (isRecord(volume.ephemeral)) {
      add(claims, `${text(at(pod, 'metadata', 'name')) ?? ''}-${text(volume.name) ?? ''}`);
    }
    for (const source of records(at(volume, 'projected', 'sources'))) {
      add(secrets, at(source, 'secret', 'name'));
      add(configMaps, at(source, 'configMap', 'name'));
    }
  }
  const resourceClaims = new Set<string>();
  for (const { resourceClaimName } of records(at(spec, 'resourceClaims'))) add(resourceClaims, resourceClaimName);
  for (const { resourceClaimName } of records(at(pod, 'status', 'resourceClaimStatuses'))) {
    add(resourceClaims, resourceClaimName);
  }
  return { secrets, configMaps, claims, resourceClaims, serviceAccount: text(at(spec, 'serviceAccountName')) ?? '' };
}
