import {
  type LabelSelector,
  labelSelectorOf,
  matchesLabels,
  nodes,
  type Pod,
  type PodSpec,
  pods,
} from '@castellan/machinery';
import type { ClusterState, PodQuery } from '../cluster/cluster-state.js';
import type { NodeView } from '../cluster/node-view.js';
import { factsOf } from '../cluster/pod-facts.js';
import { crowded, firstRefusal, hint, type NodeFilter, refused, type SchedulerPlugin } from '../plugin.js';
import { isWantedNode } from './node-selector.js';
import { cameToNode, leftNode } from './pod-changes.js';
import { toleratesNode } from './taint-toleration.js';

type Written = NonNullable<PodSpec['topologySpreadConstraints']>[number];

/** One constraint, ready to be counted. */
interface Constraint {
  readonly topologyKey: string;
  readonly maxSkew: number;
  readonly minDomains: number;
  /** The pods that are to be spread. */
  readonly query: PodQuery;
  /** Whether the pods of this node count, as the policies of the constraint say. */
  counts(node: NodeView): boolean;
}

/**
 * Pods that are alike are spread over hosts, zones and what else nodes have in common. Without constraints of its own, a pod
 * is spread from those of its controller over hosts and zones as far as may be.
 * Source: Kubernetes, "Pod Topology Spread Constraints".
 */
export const podTopologySpread: SchedulerPlugin = {
  name: 'PodTopologySpread',
  weight: 2,
  hints: [
    hint({ type: pods, mayHelp: (_, change) => leftNode(change) || cameToNode(change) || isGoing(change.object) }),
    hint({
      type: nodes,
      mayHelp: (_, change) =>
        change.kind !== 'updated' ||
        change.object.metadata.labels !== change.previous.metadata.labels ||
        change.object.spec !== change.previous.spec,
    }),
  ],
  filterOf(pod, { cluster }) {
    const constraints = ownConstraints(pod, 'DoNotSchedule');
    if (constraints.length === 0) return undefined;
    const filters = constraints.map((constraint) => skewFilter(pod, constraint, constraints, cluster));
    return firstRefusal(filters);
  },
  scoresOf(pod, feasible, { cluster }) {
    const own = ownConstraints(pod, 'ScheduleAnyway');
    const constraints = own.length > 0 ? own : defaultConstraints(pod);
    if (constraints.length === 0) return undefined;
    // By default hosts without a zone are spread over as well; who asks for zones means nodes that have one.
    const isIgnored = (node: NodeView) => own.length > 0 && !hasAllKeys(node, constraints);
    const spread = constraints.map((constraint) => crowding(constraint, feasible, { cluster, isIgnored }));
    const crowds = feasible.map((node) =>
      isIgnored(node) ? undefined : Math.round(spread.reduce((total, crowd) => total + crowd(node), 0)),
    );
    return emptiest(crowds);
  },
};

const unmatched = "node(s) didn't match pod topology spread constraints";
const hostname = 'kubernetes.io/hostname';
const zone = 'topology.kubernetes.io/zone';

/** A domain may have at most `maxSkew` more of them than the emptiest. */
function skewFilter(pod: Pod, constraint: Constraint, all: readonly Constraint[], cluster: ClusterState): NodeFilter {
  const { topologyKey, maxSkew, minDomains, query } = constraint;
  const byDomain = new Map<string, number>();
  const count = cluster.countsOf(query);
  for (const node of cluster.nodes) {
    const domain = node.labels[topologyKey];
    if (domain === undefined || !hasAllKeys(node, all) || !constraint.counts(node)) continue;
    byDomain.set(domain, (byDomain.get(domain) ?? 0) + count(node));
  }
  const least = byDomain.size < minDomains ? 0 : Math.min(...byDomain.values());
  const own = query.means(pod) ? 1 : 0;
  const lacksLabel = refused(`${unmatched} (missing required label)`);
  const isSkewed = crowded(unmatched);
  return ({ labels }) => {
    const domain = labels[topologyKey];
    if (domain === undefined) return lacksLabel;
    const there = byDomain.get(domain) ?? 0;
    return there + own - least > maxSkew ? isSkewed : undefined;
  };
}

/**
 * How full the node's domain is. Few domains weigh less than many, else zones would count for more than hosts; and the skew
 * that is allowed is no difference.
 */
function crowding(
  { topologyKey, maxSkew, query, counts }: Constraint,
  feasible: readonly NodeView[],
  { cluster, isIgnored }: { readonly cluster: ClusterState; isIgnored(node: NodeView): boolean },
): (node: NodeView) => number {
  const count = cluster.countsOf(query);
  const open = feasible.filter((node) => !isIgnored(node));
  const domains = new Map<string, number>();
  for (const { labels } of open) if (labels[topologyKey] !== undefined) domains.set(labels[topologyKey], 0);
  for (const node of cluster.nodes) {
    const before = domains.get(node.labels[topologyKey] ?? '');
    if (before === undefined || isIgnored(node) || !counts(node)) continue;
    domains.set(node.labels[topologyKey] ?? '', before + count(node));
  }
  const weight = Math.log((topologyKey === hostname ? open.length : domains.size) + 2);
  return ({ labels }) => {
    const crowd = domains.get(labels[topologyKey] ?? '');
    return crowd === undefined ? 0 : crowd * weight + maxSkew - 1;
  };
}

function emptiest(crowds: readonly (number | undefined)[]): readonly number[] {
  const known = crowds.filter((crowd) => crowd !== undefined);
  const most = Math.max(...known);
  const least = Math.min(...known);
  return crowds.map((crowd) => {
    if (crowd === undefined) return 0;
    return most === 0 ? 100 : Math.floor((100 * (most + least - crowd)) / most);
  });
}

function hasAllKeys({ labels }: NodeView, constraints: readonly Constraint[]): boolean {
  return constraints.every(({ topologyKey }) => labels[topologyKey] !== undefined);
}

function ownConstraints(pod: Pod, whenUnsatisfiable: string): readonly Constraint[] {
  const written = pod.spec?.topologySpreadConstraints ?? [];
  return written.filter((each) => each.whenUnsatisfiable === whenUnsatisfiable).map((each) => compile(pod, each));
}

/** Selectors of pods that name their own labels (`matchLabelKeys`) were completed by the API server. */
function compile(pod: Pod, { labelSelector, nodeAffinityPolicy, nodeTaintsPolicy, ...written }: Written): Constraint {
  const selector = labelSelector === undefined ? undefined : labelSelectorOf(labelSelector);
  const { topologyKey, maxSkew, minDomains = 1 } = written;
  return {
    topologyKey,
    maxSkew,
    minDomains,
    query: selectorQuery(pod.metadata.namespace ?? '', selector),
    counts: ({ node }) =>
      (nodeAffinityPolicy === 'Ignore' || isWantedNode(pod.spec, node)) &&
      (nodeTaintsPolicy !== 'Honor' || toleratesNode(node, pod.spec?.tolerations)),
  };
}

/** A pod that is going leaves its domain to others. */
function selectorQuery(namespace: string, selector: LabelSelector | undefined): PodQuery {
  return {
    key: `spread ${JSON.stringify([namespace, selector])}`,
    means: ({ metadata }) =>
      selector !== undefined &&
      metadata.namespace === namespace &&
      metadata.deletionTimestamp === undefined &&
      matchesLabels(selector, metadata.labels),
  };
}

/** Upstream's, of pods of one controller: what a Service selects is most often just that. */
function defaultConstraints(pod: Pod): readonly Constraint[] {
  const { controller } = factsOf(pod);
  if (controller === undefined) return [];
  const query: PodQuery = {
    key: `controller ${controller}`,
    means: (other) => factsOf(other).controller === controller && other.metadata.deletionTimestamp === undefined,
  };
  const counts = ({ node }: NodeView) => isWantedNode(pod.spec, node);
  return [
    { topologyKey: hostname, maxSkew: 3, minDomains: 1, query, counts },
    { topologyKey: zone, maxSkew: 5, minDomains: 1, query, counts },
  ];
}

function isGoing({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}
