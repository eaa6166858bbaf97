import { namespaces, nodes, type Pod, pods } from '@castellan/machinery';
import type { AffinityTerm, TermKind } from '../cluster/affinity-term.js';
import type { ClusterState, PodQuery } from '../cluster/cluster-state.js';
import type { NodeView } from '../cluster/node-view.js';
import { factsOf } from '../cluster/pod-facts.js';
import { crowded, firstRefusal, hint, type NodeFilter, refused, type SchedulerPlugin } from '../plugin.js';
import { stretched } from './normalize.js';
import { cameToNode, leftNode } from './pod-changes.js';

/**
 * A pod that must, or would rather, run near some pods and away from others; or that others want near or away. "Near" is: on
 * a node with the same value of the label `topologyKey`. Source: Kubernetes, "Inter-pod affinity and anti-affinity".
 */
export const interPodAffinity: SchedulerPlugin = {
  name: 'InterPodAffinity',
  weight: 2,
  hints: [
    hint({ type: pods, mayHelp: (pod, change) => leftNode(change) || (cameToNode(change) && wantsCompany(pod)) }),
    hint({
      type: nodes,
      mayHelp: (_, change) =>
        change.kind === 'added' ||
        (change.kind === 'updated' && change.object.metadata.labels !== change.previous.metadata.labels),
    }),
    hint({ type: namespaces, mayHelp: () => true }),
  ],
  filterOf(pod, { cluster }) {
    const checks = [nearFilter(pod, cluster), awayFilter(pod, cluster), unwelcomeFilter(pod, cluster)];
    const filters = checks.filter((check) => check !== undefined);
    if (filters.length === 0) return undefined;
    return firstRefusal(filters);
  },
  scoresOf(pod, feasible, { cluster }) {
    const weights = new DomainWeights();
    addOwnPreferences(pod, cluster, weights);
    for (const { kind, sign } of bearing) addTheirPreferences(pod, cluster, { kind, sign, weights });
    if (weights.isEmpty) return undefined;
    return stretched(feasible.map((node) => weights.of(node)));
  },
};

function wantsCompany(pod: Pod): boolean {
  return factsOf(pod).terms.requiredNear.length > 0;
}

/** Near pods that all its terms speak of; the first of a group that wants to be together may go anywhere. */
function nearFilter(pod: Pod, cluster: ClusterState): NodeFilter | undefined {
  const terms = factsOf(pod).terms.requiredNear;
  if (terms.length === 0) return undefined;
  const query = queryOf(terms, cluster);
  const count = cluster.countsOf(query);
  const domains = terms.map(({ topologyKey }) => ({ topologyKey, peopled: domainsWith(count, topologyKey, cluster) }));
  const isAlone = domains.every(({ peopled }) => peopled.size === 0) && query.means(pod);
  const refusal = refused("node(s) didn't match pod affinity rules");
  return ({ labels }) => {
    const isNear = domains.every(({ topologyKey, peopled }) => {
      const domain = labels[topologyKey];
      return domain !== undefined && (isAlone || peopled.has(domain));
    });
    return isNear ? undefined : refusal;
  };
}

function awayFilter(pod: Pod, cluster: ClusterState): NodeFilter | undefined {
  const taboo = factsOf(pod).terms.requiredAway.map((term) => ({
    topologyKey: term.topologyKey,
    peopled: domainsWith(cluster.countsOf(queryOf([term], cluster)), term.topologyKey, cluster),
  }));
  if (taboo.every(({ peopled }) => peopled.size === 0)) return undefined;
  const refusal = crowded("node(s) didn't match pod anti-affinity rules");
  return (node) => (isInAny(node, taboo) ? refusal : undefined);
}

/** Pods that are there keep others away by their own rules. */
function unwelcomeFilter(pod: Pod, cluster: ClusterState): NodeFilter | undefined {
  const taboo: Domains[] = [];
  for (const { term, counts } of cluster.termsOf('requiredAway')) {
    if (!term.means(pod, (namespace) => cluster.namespaceLabels(namespace))) continue;
    const peopled = new Set<string>();
    for (const nodeName of counts.keys()) {
      const domain = cluster.node(nodeName)?.labels[term.topologyKey];
      if (domain !== undefined) peopled.add(domain);
    }
    taboo.push({ topologyKey: term.topologyKey, peopled });
  }
  if (taboo.length === 0) return undefined;
  const refusal = crowded("node(s) didn't satisfy existing pods anti-affinity rules");
  return (node) => (isInAny(node, taboo) ? refusal : undefined);
}

interface Domains {
  readonly topologyKey: string;
  readonly peopled: ReadonlySet<string>;
}

function isInAny({ labels }: NodeView, all: readonly Domains[]): boolean {
  return all.some(({ topologyKey, peopled }) => {
    const domain = labels[topologyKey];
    return domain !== undefined && peopled.has(domain);
  });
}

function domainsWith(
  count: (node: NodeView) => number,
  topologyKey: string,
  { nodes: all }: ClusterState,
): Set<string> {
  const peopled = new Set<string>();
  for (const node of all) {
    const domain = node.labels[topologyKey];
    if (domain !== undefined && count(node) > 0) peopled.add(domain);
  }
  return peopled;
}

/** The pods that all of these terms speak of. */
function queryOf(terms: readonly AffinityTerm[], cluster: ClusterState): PodQuery {
  const labels = (namespace: string) => cluster.namespaceLabels(namespace);
  return {
    key: `affinity ${terms.map(({ key }) => key).join(' ')}`,
    means: (pod) => terms.every((term) => term.means(pod, labels)),
  };
}

/** How pods that are there bear on one that comes; those that must be near others draw them a little. */
const bearing: readonly { readonly kind: TermKind; readonly sign: 1 | -1 }[] = [
  { kind: 'preferredNear', sign: 1 },
  { kind: 'preferredAway', sign: -1 },
  { kind: 'requiredNear', sign: 1 },
];

function addOwnPreferences(pod: Pod, cluster: ClusterState, weights: DomainWeights): void {
  const { preferredNear, preferredAway } = factsOf(pod).terms;
  const own = [
    ...preferredNear.map((term) => ({ term, sign: 1 })),
    ...preferredAway.map((term) => ({ term, sign: -1 })),
  ];
  for (const { term, sign } of own) {
    const count = cluster.countsOf(queryOf([term], cluster));
    for (const node of cluster.nodes) weights.add(node, term, sign * count(node));
  }
}

interface Bearing {
  readonly kind: TermKind;
  readonly sign: 1 | -1;
  readonly weights: DomainWeights;
}

function addTheirPreferences(pod: Pod, cluster: ClusterState, { kind, sign, weights }: Bearing): void {
  for (const { term, counts } of cluster.termsOf(kind)) {
    if (!term.means(pod, (namespace) => cluster.namespaceLabels(namespace))) continue;
    for (const [nodeName, count] of counts) {
      const node = cluster.node(nodeName);
      if (node !== undefined) weights.add(node, term, sign * count);
    }
  }
}

/** By topology key and domain. */
class DomainWeights {
  readonly #byKey = new Map<string, Map<string, number>>();

  get isEmpty(): boolean {
    return this.#byKey.size === 0;
  }

  add({ labels }: NodeView, { topologyKey, weight }: AffinityTerm, count: number): void {
    const domain = labels[topologyKey];
    if (domain === undefined || count === 0) return;
    const domains = this.#byKey.get(topologyKey) ?? new Map<string, number>();
    this.#byKey.set(topologyKey, domains);
    domains.set(domain, (domains.get(domain) ?? 0) + count * weight);
  }

  of({ labels }: NodeView): number {
    let total = 0;
    for (const [topologyKey, domains] of this.#byKey) total += domains.get(labels[topologyKey] ?? '') ?? 0;
    return total;
  }
}
