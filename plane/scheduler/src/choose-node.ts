import type { Pod } from '@castellan/machinery';
import type { NodeView } from './cluster-view.js';
import { filter } from './filter.js';
import { bestNode } from './score.js';

export type Choice =
  | { readonly kind: 'node'; readonly nodeName: string }
  /** `message` is what `kubectl describe pod` shows, in upstream's words. */
  | { readonly kind: 'none'; readonly message: string };

/** Where a pod goes: the best of the nodes that it can run on, or why there is none. Pure. */
export function chooseNode(pod: Pod, views: readonly NodeView[]): Choice {
  if (views.length === 0) return { kind: 'none', message: 'no nodes available to schedule pods' };
  const examined = views.map((view) => ({ view, reasons: filter(pod, view, views) }));
  const feasible = examined.filter(({ reasons }) => reasons.length === 0).map(({ view }) => view);
  const nodeName = bestNode(pod, feasible, views)?.node.metadata.name;
  if (nodeName !== undefined) return { kind: 'node', nodeName };
  return { kind: 'none', message: `0/${views.length} nodes are available: ${tally(examined)}.` };
}

function tally(examined: readonly { readonly reasons: readonly string[] }[]): string {
  const counts = new Map<string, number>();
  for (const reason of examined.flatMap(({ reasons }) => reasons)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return [...counts]
    .map(([reason, count]) => `${count} ${reason}`)
    .sort()
    .join(', ');
}
