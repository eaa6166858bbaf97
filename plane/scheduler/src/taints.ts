import type { Node, Taint, Toleration } from '@castellan/machinery';

/**
 * A node's taints, and those that its Ready condition stands for: the controller that
 * writes them may be behind, and a node that has never reported is not ready.
 */
export function taintsOf({ spec, status }: Node): readonly Taint[] {
  const taints = spec?.taints ?? [];
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'False';
  if (ready === 'True') return taints;
  const key = ready === 'Unknown' ? 'node.kubernetes.io/unreachable' : 'node.kubernetes.io/not-ready';
  const isKnown = taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule');
  return isKnown ? taints : [...taints, { key, effect: 'NoSchedule' }];
}

export const unschedulableTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

export function isTolerated(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return tolerations.some((toleration) => {
    if (toleration.effect !== undefined && toleration.effect !== '' && toleration.effect !== taint.effect) return false;
    const hasKey = toleration.key !== undefined && toleration.key !== '';
    if (hasKey && toleration.key !== taint.key) return false;
    if (toleration.operator === 'Exists') return true;
    return hasKey && (toleration.value ?? '') === (taint.value ?? '');
  });
}
