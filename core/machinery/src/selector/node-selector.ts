import type { DeepReadonly, Node, PodSpec } from '../kinds/built-in.js';

/** What a pod's required node affinity and a volume's node affinity are made of. */
export type NodeSelector = DeepReadonly<
  NonNullable<
    NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
  >
>;

export type NodeSelectorTerm = NodeSelector['nodeSelectorTerms'][number];
type Requirement = NonNullable<NodeSelectorTerm['matchExpressions']>[number];

/** Whether a node meets one of the selector's terms at least. */
export function matchesNodeSelector({ nodeSelectorTerms }: NodeSelector, node: Node): boolean {
  return nodeSelectorTerms.some((term) => matchesNodeSelectorTerm(term, node));
}

/** All requirements of one term; a term without any is met by no node. */
export function matchesNodeSelectorTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { metadata }: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { 'metadata.name': metadata.name ?? '' };
  return (
    matchExpressions.every((requirement) => holds(requirement, metadata.labels?.[requirement.key])) &&
    matchFields.every((requirement) => holds(requirement, fields[requirement.key]))
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
