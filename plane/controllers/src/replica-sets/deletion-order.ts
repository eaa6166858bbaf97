import type { ContainerStatus, Pod } from '@castellan/machinery';
import { isReady, readySinceMs } from '../workloads/pod-state.js';

const deletionCostAnnotation = 'controller.kubernetes.io/pod-deletion-cost';
const phaseOrder: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/**
 * Pods in the order in which they are to go when there are too many: those that cost least first. `related` are the active
 * pods of all that serve the same purpose (those of the other ReplicaSets of one Deployment among them): of pods that are
 * alike, one goes that shares its node with many of them. Ages are compared by their powers of two, and then by uid, so
 * that it is not always the youngest that goes. Source: ActivePodsWithRanks of kube-controller-manager.
 */
export function inDeletionOrder(pods: readonly Pod[], related: readonly Pod[], nowMs: number): readonly Pod[] {
  const onNode = new Map<string, number>();
  for (const { spec } of related) {
    if (spec?.nodeName === undefined) continue;
    onNode.set(spec.nodeName, (onNode.get(spec.nodeName) ?? 0) + 1);
  }
  const neighbours = ({ spec }: Pod) => onNode.get(spec?.nodeName ?? '') ?? 0;
  const rules: readonly ((a: Pod, b: Pod) => number)[] = [
    (a, b) => Number(hasNode(a)) - Number(hasNode(b)),
    (a, b) => phaseRank(a) - phaseRank(b),
    (a, b) => Number(isReady(a)) - Number(isReady(b)),
    (a, b) => deletionCost(a) - deletionCost(b),
    (a, b) => neighbours(b) - neighbours(a),
    (a, b) => (isReady(a) && isReady(b) ? younger(a, b, readySinceMs(a), readySinceMs(b), nowMs) : 0),
    (a, b) => mostRestarts(b, false) - mostRestarts(a, false),
    (a, b) => mostRestarts(b, true) - mostRestarts(a, true),
    (a, b) => younger(a, b, createdMs(a), createdMs(b), nowMs),
  ];
  return pods.toSorted((a, b) => {
    for (const rule of rules) {
      const order = rule(a, b);
      if (order !== 0) return order;
    }
    return 0;
  });
}

function hasNode({ spec }: Pod): boolean {
  return (spec?.nodeName ?? '') !== '';
}

function phaseRank({ status }: Pod): number {
  return phaseOrder[status?.phase ?? 'Pending'] ?? 0;
}

/** 0 when it has none, or none that is a whole number of 32 bits. */
function deletionCost({ metadata }: Pod): number {
  const text = metadata.annotations?.[deletionCostAnnotation] ?? '';
  const cost = /^(0|-?[1-9]\d*)$/.test(text) ? Number(text) : 0;
  return Math.abs(cost) < 2 ** 31 ? cost : 0;
}

/** Negative when `a` is to go first: its time is unknown, or about half as long ago. */
function younger(a: Pod, b: Pod, aMs: number | undefined, bMs: number | undefined, nowMs: number): number {
  if (aMs === bMs) return 0;
  if (aMs === undefined) return -1;
  if (bMs === undefined) return 1;
  const order = logarithmicAge(aMs, nowMs) - logarithmicAge(bMs, nowMs);
  if (order !== 0) return order;
  return (a.metadata.uid ?? '') < (b.metadata.uid ?? '') ? -1 : 1;
}

function logarithmicAge(ms: number, nowMs: number): number {
  const age = nowMs - ms;
  return age <= 0 ? -1 : Math.floor(Math.log2(age));
}

function createdMs({ metadata }: Pod): number | undefined {
  return metadata.creationTimestamp === undefined ? undefined : Date.parse(metadata.creationTimestamp);
}

/** Of its containers, or of those that run beside them from the start. */
function mostRestarts({ spec, status }: Pod, areSidecars: boolean): number {
  const sidecars = new Set(
    spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses: readonly ContainerStatus[] = areSidecars
    ? (status?.initContainerStatuses?.filter(({ name }) => sidecars.has(name)) ?? [])
    : (status?.containerStatuses ?? []);
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}
