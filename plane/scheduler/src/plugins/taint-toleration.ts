import { deepEqual, isTolerated, type Node, nodes, type Taint, type Toleration } from '@castellan/machinery';
import type { NodeView } from '../cluster/node-view.js';
import { hint, refused, type SchedulerPlugin } from '../plugin.js';
import { reversedShare } from './normalize.js';

/**
 * A taint keeps pods away that do not tolerate it; one with the effect PreferNoSchedule only makes the node worse.
 * Source: Kubernetes, "Taints and Tolerations".
 */
export const taintToleration: SchedulerPlugin = {
  name: 'TaintToleration',
  weight: 3,
  hints: [
    hint({
      type: nodes,
      mayHelp: ({ spec }, change) =>
        toleratesNode(change.object, spec?.tolerations) &&
        (change.kind !== 'updated' || !deepEqual(taintsOf(change.object), taintsOf(change.previous))),
    }),
  ],
  filterOf: ({ spec }) => {
    const refusal = refused('node(s) had untolerated taint(s)');
    return ({ node }) => (toleratesNode(node, spec?.tolerations) ? undefined : refusal);
  },
  scoresOf: ({ spec }, feasible) => {
    if (!feasible.some(({ taints }) => taints.some(isPreference))) return undefined;
    const tolerations = (spec?.tolerations ?? []).filter(({ effect = '' }) => effect === '' || effect === prefer);
    const count = ({ taints }: NodeView) =>
      taints.filter((taint) => isPreference(taint) && !isTolerated(taint, tolerations)).length;
    return reversedShare(feasible.map(count));
  },
};

/** Whether new pods with these tolerations may be placed on the node. */
export function toleratesNode(node: Node, tolerations: readonly Toleration[] = []): boolean {
  return taintsOf(node).every((taint) => !repels(taint) || isTolerated(taint, tolerations));
}

/**
 * A node's taints, and those that its Ready condition stands for: the controller that
 * writes them may be behind, and a node that has never reported is not ready.
 */
function taintsOf({ spec, status }: Node): readonly Taint[] {
  const taints = spec?.taints ?? [];
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'False';
  if (ready === 'True') return taints;
  const key = ready === 'Unknown' ? 'node.kubernetes.io/unreachable' : 'node.kubernetes.io/not-ready';
  const isKnown = taints.some((taint) => taint.key === key && taint.effect === 'NoSchedule');
  return isKnown ? taints : [...taints, { key, effect: 'NoSchedule' }];
}

const prefer = 'PreferNoSchedule';

function isPreference({ effect }: Taint): boolean {
  return effect === prefer;
}

function repels({ effect }: Taint): boolean {
  return effect === 'NoSchedule' || effect === 'NoExecute';
}
