import type { Pod, PodTemplateSpec, StatefulSet } from '@castellan/machinery';
import { statefulSets } from '@castellan/machinery';
import { ownerReferenceFor } from '@castellan/runtime';
import { podFromTemplate } from '../workloads/pod-from-template.js';
import { podIndexLabel, podNameLabel, podNameOf, revisionLabel, withClaims } from './pod-identity.js';

/** What a revision makes of a pod. */
export interface SetRevision {
  readonly name: string;
  readonly template: PodTemplateSpec;
}

/** The pod of an ordinal, with the name, the address and the claims that every pod of that ordinal has. */
export function newPod(set: StatefulSet, { name: revision, template }: SetRevision, ordinal: number): Pod {
  const pod = podFromTemplate(template, set, ownerReferenceFor(set, statefulSets));
  const name = podNameOf(set, ordinal);
  const { serviceName = '' } = set.spec ?? {};
  return {
    ...pod,
    metadata: { ...pod.metadata, name, labels: { ...pod.metadata.labels, ...identityLabels(name, ordinal, revision) } },
    spec: {
      ...(pod.spec ?? { containers: [] }),
      hostname: name,
      ...(serviceName === '' ? {} : { subdomain: serviceName }),
      volumes: withClaims(set, pod.spec?.volumes ?? [], ordinal),
    },
  };
}

/** A pod as it was, with its identity again. Name, host name and subdomain of a pod never change. */
export function repairedPod(set: StatefulSet, pod: Pod, ordinal: number): Pod {
  const { name = '' } = pod.metadata;
  const labels = { ...pod.metadata.labels, [podNameLabel]: name, [podIndexLabel]: String(ordinal) };
  const spec = pod.spec ?? { containers: [] };
  return {
    ...pod,
    metadata: { ...pod.metadata, labels },
    spec: { ...spec, volumes: withClaims(set, spec.volumes ?? [], ordinal) },
  };
}

function identityLabels(name: string, ordinal: number, revision: string) {
  return { [podNameLabel]: name, [podIndexLabel]: String(ordinal), [revisionLabel]: revision };
}
