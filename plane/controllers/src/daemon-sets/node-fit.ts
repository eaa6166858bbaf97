import {
  type DaemonSet,
  isTolerated,
  matchesNodeSelector,
  type Node,
  type PodSpec,
  type Taint,
  type Toleration,
} from '@castellan/machinery';

/** What a node means for a DaemonSet: whether a pod is to be made there, and whether one that is there may stay. */
export interface NodeFit {
  readonly shouldRun: boolean;
  readonly mayStay: boolean;
}

/** Pods of a DaemonSet stay on nodes that are in trouble, or closed to others. Source: AddOrUpdateDaemonPodTolerations of upstream's controller. */
const troubles: readonly (readonly [string, Toleration['effect']])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
];
const noNetwork = ['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const;

/** The tolerations of its pods: those of the template, and those that every pod of a DaemonSet has. */
export function daemonTolerations(spec: PodSpec | undefined): readonly Toleration[] {
  const own = spec?.tolerations ?? [];
  const added = (spec?.hostNetwork === true ? [...troubles, noNetwork] : troubles).map(
    ([key, effect]): Toleration => ({ key, operator: 'Exists', ...(effect === undefined ? {} : { effect }) }),
  );
  const isSame = (a: Toleration, b: Toleration) =>
    a.key === b.key && a.effect === b.effect && a.operator === b.operator && (a.value ?? '') === (b.value ?? '');
  return [...own, ...added.filter((each) => !own.some((other) => isSame(each, other)))];
}

/** A taint that says NoSchedule keeps new pods away, and lets those stay that are there. */
export function nodeFit({ spec }: DaemonSet, node: Node): NodeFit {
  const template = spec?.template.spec;
  if (!isWantedNode(template, node)) return { shouldRun: false, mayStay: false };
  const tolerations = daemonTolerations(template);
  const untolerated = (node.spec?.taints ?? []).filter((taint) => repels(taint) && !isTolerated(taint, tolerations));
  return {
    shouldRun: untolerated.length === 0,
    mayStay: untolerated.every(({ effect }) => effect !== 'NoExecute'),
  };
}

function isWantedNode(template: PodSpec | undefined, node: Node): boolean {
  const { name, labels = {} } = node.metadata;
  const { nodeName = '', nodeSelector = {}, affinity } = template ?? {};
  if (nodeName !== '' && nodeName !== name) return false;
  if (!Object.entries(nodeSelector).every(([key, value]) => labels[key] === value)) return false;
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || matchesNodeSelector(required, node);
}

function repels({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}
