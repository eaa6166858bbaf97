import type { Node, PodSpec } from '@castellan/machinery';

type Required = NonNullable<
  NonNullable<NonNullable<PodSpec['affinity']>['nodeAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']
>;
type Term = Required['nodeSelectorTerms'][number];
type Requirement = NonNullable<Term['matchExpressions']>[number];

/** Whether a node has what the pod's nodeSelector and its required node affinity ask for. */
export function isWantedNode(spec: PodSpec | undefined, { metadata }: Node): boolean {
  const labels = metadata.labels ?? {};
  const hasLabels = Object.entries(spec?.nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (!hasLabels || required === undefined) return hasLabels;
  const fields = { 'metadata.name': metadata.name ?? '' };
  return required.nodeSelectorTerms.some((term) => isMet(term, labels, fields));
}

/** All requirements of one term; a term without any is met by no node. */
function isMet(
  { matchExpressions = [], matchFields = [] }: Term,
  labels: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, string>>,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  return (
    matchExpressions.every((requirement) => holds(requirement, labels[requirement.key])) &&
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
      return value !== undefined && Number(value) > Number(values[0]);
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0]);
    default:
      return false;
  }
}
