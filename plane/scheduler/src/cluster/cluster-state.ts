import type { Pod } from '@castellan/machinery';
import type { AffinityTerm, Labels, TermKind } from './affinity-term.js';
import type { NodeView } from './node-view.js';

/** All nodes and what runs, or is about to run, on each: what one decision is made on. */
export interface ClusterState {
  readonly nodes: readonly NodeView[];
  node(name: string): NodeView | undefined;
  namespaceLabels(namespace: string): Labels | undefined;
  /** How many pods of each node the query means. Kept up to date while it is asked for: pods of one template ask the same. */
  countsOf(query: PodQuery): (node: NodeView) => number;
  /** The distinct terms of this kind that placed pods have. */
  termsOf(kind: TermKind): Iterable<PlacedTerm>;
  /** Pods that wait for others to go from this node, to take their room. */
  nominatedTo(nodeName: string): readonly Pod[];
  nominationOf(pod: Pod): string | undefined;
}

export interface PodQuery {
  /** Two queries with one key mean the same pods. */
  readonly key: string;
  means(pod: Pod): boolean;
}

export interface PlacedTerm {
  readonly term: AffinityTerm;
  /** How many pods with it each node has, by the node's name. */
  readonly counts: ReadonlyMap<string, number>;
}
