import type { Pod } from '@castellan/machinery';
import type { NodeView } from './cluster-view.js';
import { requestsOf } from './resources.js';

/** What a pod that asks for nothing is taken to need, as upstream: else all such pods would go to one node. */
const assumedRequests = new Map([
  ['cpu', 100],
  ['memory', 200 * 2 ** 20],
]);
const spreadWeight = 2;

/**
 * How well a pod fits a node that passed `filter`; more is better. The share of cpu and memory that stays free (0–100),
 * and twice the share of the pod's siblings, those of the same controller, that run on other nodes (0–100).
 */
export function score(pod: Pod, view: NodeView, all: readonly NodeView[]): number {
  return leastAllocated(pod, view) + spreadWeight * spread(pod, view, all);
}

/** The best node; of several equally good ones the first by name, so that a choice can be explained and repeated. */
export function bestNode(pod: Pod, feasible: readonly NodeView[], all: readonly NodeView[]): NodeView | undefined {
  let best: { readonly view: NodeView; readonly score: number } | undefined;
  for (const view of feasible) {
    const candidate = { view, score: score(pod, view, all) };
    if (best === undefined || candidate.score > best.score) best = candidate;
  }
  return best?.view;
}

function leastAllocated(pod: Pod, { allocatable, pods }: NodeView): number {
  const shares = [...assumedRequests].map(([name, assumed]) => {
    const capacity = allocatable.get(name) ?? 0;
    const taken = [pod, ...pods].reduce((total, each) => total + (requestsOf(each).get(name) ?? assumed), 0);
    return capacity === 0 ? 0 : Math.max(0, (capacity - taken) / capacity);
  });
  return (100 * shares.reduce((total, share) => total + share, 0)) / shares.length;
}

function spread(pod: Pod, view: NodeView, all: readonly NodeView[]): number {
  const siblings = all.reduce((total, { pods }) => total + siblingsIn(pod, pods), 0);
  return siblings === 0 ? 100 : (100 * (siblings - siblingsIn(pod, view.pods))) / siblings;
}

function siblingsIn(pod: Pod, others: readonly Pod[]): number {
  const controller = controllerOf(pod);
  if (controller === undefined) return 0;
  return others.filter((other) => controllerOf(other) === controller).length;
}

function controllerOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
}
