import type { Pod } from '@castellan/machinery';
import type { PodQuery } from './cluster-state.js';
import type { NodeView } from './node-view.js';

/** Queries that are kept up to date; what was not asked for the longest goes first. */
const mostQueries = 128;

interface Counter {
  readonly query: PodQuery;
  readonly byNode: Map<string, number>;
}

/**
 * How many pods each node has that a query means. The first time all pods are looked at; then each pod that comes or goes is
 * looked at once for each query. So a decision costs what there are nodes, however many pods there are.
 */
export class MatchCounts {
  readonly #counters = new Map<string, Counter>();

  of(query: PodQuery, nodes: Iterable<NodeView>): ReadonlyMap<string, number> {
    const counter = this.#counters.get(query.key) ?? this.#count(query, nodes);
    this.#counters.delete(query.key);
    this.#counters.set(query.key, counter);
    return counter.byNode;
  }

  podAdded(pod: Pod, nodeName: string): void {
    this.#change(pod, nodeName, 1);
  }

  podRemoved(pod: Pod, nodeName: string): void {
    this.#change(pod, nodeName, -1);
  }

  /** What queries mean may have changed. */
  clear(): void {
    this.#counters.clear();
  }

  #change(pod: Pod, nodeName: string, by: 1 | -1): void {
    for (const { query, byNode } of this.#counters.values()) {
      if (query.means(pod)) byNode.set(nodeName, (byNode.get(nodeName) ?? 0) + by);
    }
  }

  #count(query: PodQuery, nodes: Iterable<NodeView>): Counter {
    if (this.#counters.size >= mostQueries) {
      const oldest = this.#counters.keys().next();
      if (oldest.done !== true) this.#counters.delete(oldest.value);
    }
    const byNode = new Map<string, number>();
    for (const node of nodes) byNode.set(node.name, countIn(node, query));
    return { query, byNode };
  }
}

export function countIn({ pods }: NodeView, { means }: PodQuery): number {
  let count = 0;
  for (const pod of pods) if (means(pod)) count += 1;
  return count;
}
