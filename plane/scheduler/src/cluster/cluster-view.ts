import {
  formatKey,
  keyOf,
  type Namespace,
  type Node,
  namespaces,
  nodes,
  type Pod,
  parseKey,
  pods,
} from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';
import type { Labels, TermKind } from './affinity-term.js';
import type { ClusterState, PlacedTerm, PodQuery } from './cluster-state.js';
import { MatchCounts } from './match-counts.js';
import { NodeView } from './node-view.js';
import { PlacedTerms } from './placed-terms.js';
import { hasFinished } from './pod-facts.js';

interface Placed {
  readonly pod: Pod;
  readonly nodeName: string;
  /** Ours, and not yet seen in the cache. */
  readonly isAssumed: boolean;
}

/**
 * The cluster as decisions see it, held up to date: a change in the cache is noted by its key, and the next decision reads
 * only what was noted. Pods that were given a node by us are there at once, however late the cache shows them so.
 */
export class ClusterView implements ClusterState {
  readonly #noted = { nodes: new Set<string>(), pods: new Set<string>(), namespaces: new Set<string>() };
  readonly #nodes = new Map<string, NodeView>();
  readonly #placed = new Map<string, Placed>();
  /** Of nodes that are not there, or not yet. */
  readonly #homeless = new Map<string, Set<string>>();
  readonly #nominated = new Map<string, Placed>();
  readonly #namespaces = new Map<string, Labels>();
  readonly #counts = new MatchCounts();
  readonly #terms = new PlacedTerms();
  #sorted: readonly NodeView[] | undefined;

  /** In the order of their names. */
  get nodes(): readonly NodeView[] {
    this.#sorted ??= [...this.#nodes.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  node(name: string): NodeView | undefined {
    return this.#nodes.get(name);
  }

  namespaceLabels(namespace: string): Labels | undefined {
    return this.#namespaces.get(namespace);
  }

  countsOf(query: PodQuery): (node: NodeView) => number {
    const byNode = this.#counts.of(query, this.nodes);
    return ({ name }) => byNode.get(name) ?? 0;
  }

  termsOf(kind: TermKind): Iterable<PlacedTerm> {
    return this.#terms.of(kind);
  }

  nominatedTo(nodeName: string): readonly Pod[] {
    if (this.#nominated.size === 0) return [];
    return [...this.#nominated.values()].filter((entry) => entry.nodeName === nodeName).map(({ pod }) => pod);
  }

  noteNode({ metadata }: Node): void {
    this.#noted.nodes.add(metadata.name ?? '');
  }

  notePod(pod: Pod): void {
    this.#noted.pods.add(formatKey(keyOf(pod)));
  }

  noteNamespace({ metadata }: Namespace): void {
    this.#noted.namespaces.add(metadata.name ?? '');
  }

  /** Reads from the cache what was noted. */
  refresh(cache: Reader): void {
    for (const name of this.#noted.namespaces) this.#readNamespace(name, cache.get(namespaces, { name }));
    for (const name of this.#noted.nodes) this.#readNode(name, cache.get(nodes, { name }));
    for (const key of this.#noted.pods) this.#readPod(key, cache.get(pods, parseKey(key)));
    for (const noted of Object.values(this.#noted)) noted.clear();
  }

  /** The pod takes its room on the node from now on, until the cache shows where it is, or that it is gone, or `forget`. */
  assume(pod: Pod, nodeName: string): void {
    this.#place(formatKey(keyOf(pod)), { pod, nodeName, isAssumed: true });
  }

  /** Takes back `assume`; nothing when the cache has shown the pod bound since. */
  forget(pod: Pod): void {
    const key = formatKey(keyOf(pod));
    if (this.#placed.get(key)?.isAssumed === true) this.#displace(key);
  }

  /** Where the pod is, or is about to be. */
  nodeOf(pod: Pod): string | undefined {
    const placed = this.#placed.get(formatKey(keyOf(pod)));
    return placed?.pod.metadata.uid === pod.metadata.uid ? placed?.nodeName : undefined;
  }

  nominate(pod: Pod, nodeName: string): void {
    this.#nominated.set(formatKey(keyOf(pod)), { pod, nodeName, isAssumed: true });
  }

  nominationOf(pod: Pod): string | undefined {
    const nominated = this.#nominated.get(formatKey(keyOf(pod)));
    return nominated?.pod.metadata.uid === pod.metadata.uid ? nominated?.nodeName : undefined;
  }

  withdrawNomination(pod: Pod): void {
    this.#nominated.delete(formatKey(keyOf(pod)));
  }

  #readNamespace(name: string, namespace: Namespace | undefined): void {
    if (namespace === undefined) this.#namespaces.delete(name);
    else this.#namespaces.set(name, namespace.metadata.labels ?? {});
    this.#counts.clear();
  }

  #readNode(name: string, node: Node | undefined): void {
    const view = this.#nodes.get(name);
    if (node !== undefined && view !== undefined) {
      view.update(node);
      return;
    }
    this.#sorted = undefined;
    // Its pods are counted anew: those of a node that is not there do not count.
    const keys = [...(view?.pods ?? [])].map((pod) => formatKey(keyOf(pod)));
    const moved = [...keys, ...(this.#homeless.get(name) ?? [])].flatMap((key) => {
      const placed = this.#placed.get(key);
      this.#displace(key);
      return placed === undefined ? [] : [{ key, placed }];
    });
    if (node === undefined) this.#nodes.delete(name);
    else this.#nodes.set(name, new NodeView(node));
    for (const { key, placed } of moved) this.#place(key, placed);
  }

  #readPod(key: string, pod: Pod | undefined): void {
    const nodeName = pod?.spec?.nodeName ?? '';
    const isUnbound = pod !== undefined && nodeName === '' && !hasFinished(pod);
    this.#readNomination(key, isUnbound ? pod : undefined);
    const placed = this.#placed.get(key);
    if (pod === undefined || hasFinished(pod)) this.#displace(key);
    else if (nodeName !== '') this.#place(key, { pod, nodeName, isAssumed: false });
    else if (placed?.pod.metadata.uid !== pod.metadata.uid || placed?.isAssumed === false) this.#displace(key);
  }

  /** Ours is newer than what the cache shows, until the pod is bound or gone. */
  #readNomination(key: string, pod: Pod | undefined): void {
    const before = this.#nominated.get(key);
    const isSame = before !== undefined && before.pod.metadata.uid === pod?.metadata.uid;
    if (isSame && before.isAssumed) return;
    const nodeName = pod?.status?.nominatedNodeName ?? '';
    if (pod === undefined || nodeName === '') this.#nominated.delete(key);
    else this.#nominated.set(key, { pod, nodeName, isAssumed: false });
  }

  #place(key: string, placed: Placed): void {
    const before = this.#placed.get(key);
    if (before?.pod === placed.pod && before.nodeName === placed.nodeName) {
      this.#placed.set(key, placed);
      return;
    }
    this.#displace(key);
    const { pod, nodeName } = placed;
    this.#placed.set(key, placed);
    const node = this.#nodes.get(nodeName);
    if (node === undefined) {
      const others = this.#homeless.get(nodeName) ?? new Set();
      this.#homeless.set(nodeName, others.add(key));
      return;
    }
    node.add(pod);
    this.#counts.podAdded(pod, nodeName);
    this.#terms.podAdded(pod, nodeName);
  }

  #displace(key: string): void {
    const placed = this.#placed.get(key);
    if (placed === undefined) return;
    const { pod, nodeName } = placed;
    this.#placed.delete(key);
    const node = this.#nodes.get(nodeName);
    if (node === undefined) {
      const others = this.#homeless.get(nodeName);
      others?.delete(key);
      if (others?.size === 0) this.#homeless.delete(nodeName);
      return;
    }
    node.remove(pod);
    this.#counts.podRemoved(pod, nodeName);
    this.#terms.podRemoved(pod, nodeName);
  }
}
