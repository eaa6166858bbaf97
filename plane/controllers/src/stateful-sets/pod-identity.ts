import type { KubernetesObject, Pod, StatefulSet, Volume } from '@castellan/machinery';

export const podNameLabel = 'statefulset.kubernetes.io/pod-name';
export const podIndexLabel = 'apps.kubernetes.io/pod-index';
export const revisionLabel = 'controller-revision-hash';

export function podNameOf(set: KubernetesObject, ordinal: number): string {
  return `${set.metadata.name ?? ''}-${ordinal}`;
}

/** `undefined` where a pod's name is none of a pod of this set. */
export function ordinalOf(set: KubernetesObject, { metadata }: KubernetesObject): number | undefined {
  const { name = '' } = metadata;
  const ordinal = Number(/-(0|[1-9]\d{0,9})$/.exec(name)?.[1] ?? Number.NaN);
  return name === podNameOf(set, ordinal) ? ordinal : undefined;
}

export function revisionOf({ metadata }: Pod): string | undefined {
  return metadata.labels?.[revisionLabel];
}

/** The claim of a pod for one of the set's templates. */
export function claimNameOf(set: KubernetesObject, template: KubernetesObject, ordinal: number): string {
  return `${template.metadata.name ?? ''}-${podNameOf(set, ordinal)}`;
}

/** The volumes of a pod, with a claim in place of each that a template of the set names. */
export function withClaims(set: StatefulSet, volumes: readonly Volume[], ordinal: number): readonly Volume[] {
  const templates = claimTemplatesOf(set);
  const ofClaims = templates.map((template) => ({
    name: template.metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimNameOf(set, template, ordinal) },
  }));
  const names = new Set(ofClaims.map(({ name }) => name));
  return [...ofClaims, ...volumes.filter(({ name }) => !names.has(name))];
}

/** The label and the volumes by which a pod is the one of its ordinal; false when somebody changed them. */
export function hasIdentity(set: StatefulSet, pod: Pod, ordinal: number): boolean {
  const { name = '', labels } = pod.metadata;
  const claims = new Map(
    (pod.spec?.volumes ?? []).map((volume) => [volume.name, volume.persistentVolumeClaim?.claimName]),
  );
  return (
    labels?.[podNameLabel] === name &&
    claimTemplatesOf(set).every(
      (template) => claims.get(template.metadata.name ?? '') === claimNameOf(set, template, ordinal),
    )
  );
}

/** A template's metadata is never absent where the server stored it. */
export function claimTemplatesOf({ spec }: StatefulSet) {
  return (spec?.volumeClaimTemplates ?? []).map((template) => ({ ...template, metadata: template.metadata ?? {} }));
}
