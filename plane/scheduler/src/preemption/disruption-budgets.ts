import { labelSelectorOf, matchesLabels, type Pod, type PodDisruptionBudget } from '@castellan/machinery';

/**
 * The pods whose eviction, one after the other in this order, would go beyond a PodDisruptionBudget; and the others.
 * Preemption prefers those others, and takes the first when nothing else makes room.
 */
export function splitByBudgets(
  pods: readonly Pod[],
  budgets: readonly PodDisruptionBudget[],
): { readonly violating: readonly Pod[]; readonly others: readonly Pod[] } {
  const left = budgets.map((budget) => ({ budget, allowed: budget.status?.disruptionsAllowed ?? 0 }));
  const violating: Pod[] = [];
  const others: Pod[] = [];
  for (const pod of pods) {
    let isViolated = false;
    for (const entry of left) {
      if (!protects(entry.budget, pod)) continue;
      entry.allowed -= 1;
      if (entry.allowed < 0) isViolated = true;
    }
    (isViolated ? violating : others).push(pod);
  }
  return { violating, others };
}

/** An empty selector protects nothing here, as upstream; a pod whose eviction was agreed to already is counted there. */
function protects({ metadata, spec, status }: PodDisruptionBudget, pod: Pod): boolean {
  if (metadata.namespace !== pod.metadata.namespace || spec?.selector === undefined) return false;
  if (status?.disruptedPods?.[pod.metadata.name ?? ''] !== undefined) return false;
  const selector = labelSelectorOf(spec.selector);
  return selector.length > 0 && matchesLabels(selector, pod.metadata.labels);
}
