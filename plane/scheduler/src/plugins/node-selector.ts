import type { Node, PodSpec } from '@castellan/machinery';

type Required = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>;
export type NodeSelectorTerm = Required['nodeSelectorTerms'][number];
type Requirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

/** Whether a node has what the pod's nodeSelector and its required node affinity ask for. */
export function isWantedNode(spec: PodSpec | undefined, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const hasLabels = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!hasLabels || required === undefined) return hasLabels;
  return required.nodeSelectorTerms.some((term) => isTermMet(term, node));
}

/** All requirements of one term; a term without any is met by no node. */
export function isTermMet({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, { metadata }: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, metadata.labels?.[requirement.key])) &&
    matchFields.every((requirement) =>
      holds(requirement, requirement.key === 'metadata.name' ? metadata.name : undefined),
    )
  );
}

function holds({ operator, values = [] }: Requirement, value: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
      return isInteger(value) && Number(value) > Number(values[0]);
    case 'Lt':
      return isInteger(value) && Number(value) < Number(values[0]);
    default:
      return false;
  }
}

function isInteger(value: string | undefined): boolean {
  return value !== undefined && /^[+-]?\d+$/.test(value);
}
