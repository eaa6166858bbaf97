import { matchesNodeSelector, type Node, type PodSpec } from '@castellan/machinery';

/** Whether a node has what the pod's nodeSelector and its required node affinity ask for. */
export function isWantedNode(spec: PodSpec | undefined, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const hasLabels = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return hasLabels && (required === undefined || matchesNodeSelector(required, node));
}
