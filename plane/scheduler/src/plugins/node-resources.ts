import { type Node, nodes, type Pod, pods } from '@castellan/machinery';
import type { Change } from '@castellan/runtime';
import type { NodeView } from '../cluster/node-view.js';
import { factsOf } from '../cluster/pod-facts.js';
import { allocatableOf, type Resources } from '../cluster/resources.js';
import { hint, type NodeFilter, type Refusal, type SchedulerPlugin } from '../plugin.js';
import { leftNode } from './pod-changes.js';

/** The requests of a node's pods never come to more than it has; the more stays free, the better. */
export const nodeResourcesFit: SchedulerPlugin = {
  name: 'NodeResourcesFit',
  hints: [
    hint({ type: nodes, mayHelp: (pod, change) => hasGrown(pod, change) }),
    hint({ type: pods, mayHelp: (_, change) => leftNode(change) || isSmaller(change) }),
  ],
  filterOf: (pod) => {
    const { requests } = factsOf(pod);
    return (node) => shortage(requests, node);
  },
  /** LeastAllocated: the share of cpu and memory that is free once the pod is there. */
  scoresOf: (pod, feasible) => feasible.map((node) => leastAllocated(factsOf(pod).presumed, node)),
};

/** Load that is cpu on one node and memory on another leaves room that is of no use. */
export const nodeResourcesBalanced: SchedulerPlugin = {
  name: 'NodeResourcesBalancedAllocation',
  scoresOf: (pod, feasible) => {
    const { requests } = factsOf(pod);
    // Wherever a pod goes that asks for nothing, it changes no balance.
    if (!scored.some((name) => (requests.get(name) ?? 0) > 0)) return undefined;
    return feasible.map((node) => balance(requests, node));
  },
};

const scored = ['cpu', 'memory'] as const;

/** As upstream each resource that is short is told. What the whole node does not have, no pod's going makes free. */
function shortage(requests: Resources, { allocatable, requested }: NodeView): ReturnType<NodeFilter> {
  let reasons: string[] | undefined;
  let isHelpedByPreemption = true;
  for (const [name, amount] of requests) {
    // A pod that asks for nothing of a resource fits whatever others took of it.
    if (amount === 0) continue;
    const most = allocatable.get(name) ?? 0;
    if (amount <= most - (requested.get(name) ?? 0)) continue;
    reasons ??= [];
    if (name === 'pods') reasons.unshift('Too many pods');
    else reasons.push(`Insufficient ${name}`);
    if (amount > most) isHelpedByPreemption = false;
  }
  return reasons === undefined ? undefined : ({ reasons, isHelpedByPreemption } satisfies Refusal);
}

function leastAllocated(presumed: Resources, node: NodeView): number {
  let total = 0;
  let count = 0;
  for (const name of scored) {
    const most = node.allocatable.get(name) ?? 0;
    if (most === 0) continue;
    count += 1;
    const taken = (node.presumed.get(name) ?? 0) + (presumed.get(name) ?? 0);
    if (taken <= most) total += Math.floor((100 * (most - taken)) / most);
  }
  return count === 0 ? 0 : Math.floor(total / count);
}

/** 100 when the same share of cpu and of memory is taken; less by half of what the shares differ. */
function balance(requests: Resources, node: NodeView): number {
  const shares: number[] = [];
  for (const name of scored) {
    const most = node.allocatable.get(name) ?? 0;
    if (most > 0) shares.push(Math.min(1, ((node.requested.get(name) ?? 0) + (requests.get(name) ?? 0)) / most));
  }
  const [first = 0, second = first] = shares;
  return Math.floor((1 - Math.abs(first - second) / 2) * 100);
}

/** It fits the node as it is now, were it empty; and the node has more than before. */
function hasGrown(pod: Pod, change: Change<Node>): boolean {
  if (change.kind === 'deleted') return false;
  const { requests } = factsOf(pod);
  const now = allocatableOf(change.object);
  for (const [name, amount] of requests) if (amount > (now.get(name) ?? 0)) return false;
  if (change.kind === 'added') return true;
  if (change.object.status?.allocatable === change.previous.status?.allocatable) return false;
  const before = allocatableOf(change.previous);
  return [...requests.keys()].some((name) => (now.get(name) ?? 0) > (before.get(name) ?? 0));
}

/** A pod that was there takes less than before. */
function isSmaller(change: Change<Pod>): boolean {
  if (change.kind !== 'updated' || change.object.spec === change.previous.spec) return false;
  const now = factsOf(change.object).requests;
  return [...factsOf(change.previous).requests].some(([name, amount]) => (now.get(name) ?? 0) < amount);
}
