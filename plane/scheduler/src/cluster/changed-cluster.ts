import type { Pod } from '@castellan/machinery';
import type { TermKind } from './affinity-term.js';
import type { ClusterState, PlacedTerm, PodQuery } from './cluster-state.js';
import { countIn } from './match-counts.js';
import type { NodeView } from './node-view.js';
import { PlacedTerms } from './placed-terms.js';

/** The cluster as it would be with one node as `changed`: with some pods gone from it, or more of them there. */
export class ChangedCluster implements ClusterState {
  readonly nodes: readonly NodeView[];
  readonly #base: ClusterState;
  readonly #changed: NodeView;

  constructor(base: ClusterState, changed: NodeView) {
    this.#base = base;
    this.#changed = changed;
    this.nodes = base.nodes.map((node) => (node.name === changed.name ? changed : node));
  }

  node(name: string): NodeView | undefined {
    return name === this.#changed.name ? this.#changed : this.#base.node(name);
  }

  namespaceLabels(namespace: string): ReturnType<ClusterState['namespaceLabels']> {
    return this.#base.namespaceLabels(namespace);
  }

  countsOf(query: PodQuery): (node: NodeView) => number {
    const base = this.#base.countsOf(query);
    return (node) => (node.name === this.#changed.name ? countIn(this.#changed, query) : base(node));
  }

  nominatedTo(nodeName: string): readonly Pod[] {
    return this.#base.nominatedTo(nodeName);
  }

  nominationOf(pod: Pod): string | undefined {
    return this.#base.nominationOf(pod);
  }

  *termsOf(kind: TermKind): Iterable<PlacedTerm> {
    const { name, pods } = this.#changed;
    for (const { term, counts } of this.#base.termsOf(kind)) {
      yield { term, counts: new Map([...counts].filter(([nodeName]) => nodeName !== name)) };
    }
    const ofChanged = new PlacedTerms();
    for (const pod of pods) ofChanged.podAdded(pod, name);
    yield* ofChanged.of(kind);
  }
}
