import { type DaemonSet, daemonSets, type Pod, type PodSpec, type PodTemplateSpec } from '@castellan/machinery';
import { ownerReferenceFor } from '@castellan/runtime';
import { podFromTemplate } from '../workloads/pod-from-template.js';
import { daemonTolerations } from './node-fit.js';

export const hashLabel = 'controller-revision-hash';
const generationLabel = 'pod-template-generation';
const generationAnnotation = 'deprecated.daemonset.template.generation';

/** A pod for one node, of the revision with this hash. The scheduler binds it, by the name of its node. */
export function daemonPod(set: DaemonSet, node: string, hash: string): Pod {
  const { metadata, spec } = set.spec?.template ?? {};
  const generation = generationOf(set);
  const labels = {
    ...metadata?.labels,
    ...(generation === undefined ? {} : { [generationLabel]: generation }),
    [hashLabel]: hash,
  };
  const template: PodTemplateSpec = {
    metadata: { ...metadata, labels },
    spec: {
      ...(spec ?? { containers: [] }),
      tolerations: daemonTolerations(spec),
      affinity: { ...spec?.affinity, nodeAffinity: nodeAffinityTo(spec, node) },
    },
  };
  return podFromTemplate(template, set, ownerReferenceFor(set, daemonSets));
}

/** Whether a pod is of the template as it is now. */
export function isUpdated(set: DaemonSet, { metadata }: Pod, hash: string): boolean {
  const generation = generationOf(set);
  if (generation !== undefined && metadata.labels?.[generationLabel] === generation) return true;
  return hash !== '' && metadata.labels?.[hashLabel] === hash;
}

/** The node that a pod is on, or is to be on. */
export function nodeNameOf({ spec }: Pod): string | undefined {
  if (spec?.nodeName !== undefined && spec.nodeName !== '') return spec.nodeName;
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const fields = required?.nodeSelectorTerms.flatMap(({ matchFields = [] }) => matchFields) ?? [];
  return fields.find(({ key, operator }) => key === 'metadata.name' && operator === 'In')?.values?.[0];
}

/** Which nodes the DaemonSet wants was asked before; of what is preferred among them nothing is left to say. */
function nodeAffinityTo(spec: PodSpec | undefined, node: string) {
  return {
    ...spec?.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [node] }] }],
    },
  };
}

function generationOf({ metadata }: DaemonSet): string | undefined {
  return metadata.annotations?.[generationAnnotation];
}
