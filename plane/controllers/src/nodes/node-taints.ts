import type { Node, Taint } from '@castellan/machinery';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/** By the type and status of a condition. Source: KEP-382, "Taint node by Condition". */
const conditionTaints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReady, Unknown: unreachable },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
};
const unschedulable = 'node.kubernetes.io/unschedulable';
const conditionKeys = new Set(Object.values(conditionTaints).flatMap((byStatus) => Object.values(byStatus)));

/** Whether pods may be driven from a node that is in trouble: now, not yet, or not at all for the time being. */
export type EvictionLeave = 'now' | 'later' | 'never';

/** The taint that drives pods from a node in this state. */
export function evictionTaintOf(node: Node): string | undefined {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return conditionTaints.Ready?.[ready?.status ?? ''];
}

/** Whether the node has a taint that drives pods away since it is in trouble. */
export function isEvicting({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key, effect }) => effect === 'NoExecute' && isReadiness(key));
}

/**
 * The taints that a node is to have: those that its conditions and `spec.unschedulable` stand for, and whatever else is there.
 * `undefined` when it has just these. A node that has never said whether it is ready stays as admission tainted it.
 */
export function changedTaints(node: Node, leave: EvictionLeave, now: string): readonly Taint[] | undefined {
  const taints = node.spec?.taints ?? [];
  const conditions = node.status?.conditions ?? [];
  if (!conditions.some(({ type }) => type === 'Ready')) return undefined;
  const wanted = [
    ...conditions.flatMap(({ type, status }) => conditionTaints[type]?.[status] ?? []),
    ...(node.spec?.unschedulable === true ? [unschedulable] : []),
  ].map((key): Taint => ({ key, effect: 'NoSchedule' }));
  const drives = evictionTaintOf(node);
  // From one trouble to the other without waiting again.
  const mayDrive = leave === 'now' || (leave === 'later' && isEvicting(node));
  if (drives !== undefined && mayDrive) wanted.push({ key: drives, effect: 'NoExecute' });
  const kept = taints.filter((taint) => !isOurs(taint) || wanted.some((other) => isSame(taint, other)));
  const added = wanted.filter((taint) => !taints.some((other) => isSame(taint, other)));
  if (kept.length === taints.length && added.length === 0) return undefined;
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))];
}

function isOurs({ key, effect }: Taint): boolean {
  if (effect === 'NoExecute') return isReadiness(key);
  return effect === 'NoSchedule' && (conditionKeys.has(key) || key === unschedulable);
}

function isReadiness(key: string): boolean {
  return key === notReady || key === unreachable;
}

function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}
