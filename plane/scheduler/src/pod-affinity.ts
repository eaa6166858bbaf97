import { labelSelectorOf, matchesLabels, type Node, type Pod, type PodSpec } from '@castellan/machinery';
import type { NodeView } from './cluster-view.js';

type Affinity = NonNullable<PodSpec['affinity']>;
type Term = NonNullable<NonNullable<Affinity['podAffinity']>['requiredDuringSchedulingIgnoredDuringExecution']>[number];

/**
 * Why this node is wrong for a pod that must run near some pods and away from others, or that others must be away from.
 * "Near" is: on a node with the same value of the label `topologyKey`.
 */
export function podAffinityObstacles(pod: Pod, view: NodeView, all: readonly NodeView[]): readonly string[] {
  if (!nearTerms(pod).every((term) => isNear(pod, term, view, all))) return ["node(s) didn't match pod affinity rules"];
  if (awayTerms(pod).some((term) => isAnyIn(domainOf(term, view, all), term, pod))) {
    return ["node(s) didn't match pod anti-affinity rules"];
  }
  const isUnwelcome = all.some((other) =>
    other.pods.some((placed) =>
      awayTerms(placed).some((term) => isSameDomain(term, view.node, other.node) && isMeant(term, placed, pod)),
    ),
  );
  return isUnwelcome ? ["node(s) didn't satisfy existing pods anti-affinity rules"] : [];
}

/** Whether a pod that comes somewhere may let this one be placed. */
export function hasPodAffinity(pod: Pod): boolean {
  return nearTerms(pod).length > 0;
}

function nearTerms({ spec }: Pod): readonly Term[] {
  return spec?.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function awayTerms({ spec }: Pod): readonly Term[] {
  return spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

function isNear(pod: Pod, term: Term, view: NodeView, all: readonly NodeView[]): boolean {
  if (view.node.metadata.labels?.[term.topologyKey] === undefined) return false;
  if (isAnyIn(domainOf(term, view, all), term, pod)) return true;
  // The first of a group that wants to be together may go anywhere, else none of them ever could.
  return isMeant(term, pod, pod) && !isAnyIn(all, term, pod);
}

function isAnyIn(views: readonly NodeView[], term: Term, owner: Pod): boolean {
  return views.some(({ pods }) => pods.some((other) => isMeant(term, owner, other)));
}

function domainOf(term: Term, view: NodeView, all: readonly NodeView[]): readonly NodeView[] {
  return all.filter(({ node }) => isSameDomain(term, view.node, node));
}

function isSameDomain({ topologyKey }: Term, a: Node, b: Node): boolean {
  const value = a.metadata.labels?.[topologyKey];
  return value !== undefined && value === b.metadata.labels?.[topologyKey];
}

/** Whether a term of `owner` speaks of `other`. A namespaceSelector is taken for all namespaces: labels of those are not read. */
function isMeant(term: Term, owner: Pod, other: Pod): boolean {
  if (term.labelSelector === undefined) return false;
  const named = term.namespaces ?? [];
  const namespaces = named.length === 0 ? [owner.metadata.namespace] : named;
  const isInScope = term.namespaceSelector !== undefined || namespaces.includes(other.metadata.namespace ?? '');
  return isInScope && matchesLabels(labelSelectorOf(term.labelSelector), other.metadata.labels);
}
