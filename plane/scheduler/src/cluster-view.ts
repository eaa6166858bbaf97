import { formatKey, keyOf, type Node, nodes, type Pod, pods } from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';
import { allocatableOf, type Resources, requestsOf, sum } from './resources.js';

/** One node and what is placed on it. */
export interface NodeView {
  readonly node: Node;
  readonly pods: readonly Pod[];
  readonly allocatable: Resources;
  readonly requested: Resources;
}

/** Pods that were bound by us and are not yet seen so in the cache: their room is taken all the same. */
export class AssumedPods {
  readonly #byKey = new Map<string, { readonly pod: Pod; readonly nodeName: string }>();

  assume(pod: Pod, nodeName: string): void {
    this.#byKey.set(formatKey(keyOf(pod)), { pod, nodeName });
  }

  forget(pod: Pod): void {
    this.#byKey.delete(formatKey(keyOf(pod)));
  }

  has(pod: Pod): boolean {
    return this.#byKey.get(formatKey(keyOf(pod)))?.pod.metadata.uid === pod.metadata.uid;
  }

  /** Placements the cache does not show; those that it shows, or whose pod is gone, are forgotten. */
  unseenIn(cached: ReadonlyMap<string, Pod>): readonly { readonly pod: Pod; readonly nodeName: string }[] {
    for (const [key, { pod }] of this.#byKey) {
      const seen = cached.get(key);
      const isUnbound = seen?.metadata.uid === pod.metadata.uid && seen?.spec?.nodeName === undefined;
      if (!isUnbound) this.#byKey.delete(key);
    }
    return [...this.#byKey.values()];
  }
}

/** All nodes with what runs, or is about to run, on each, in the order of their names. */
export function viewCluster(cache: Reader, assumed: AssumedPods): readonly NodeView[] {
  const cached = new Map(cache.list(pods).map((pod) => [formatKey(keyOf(pod)), pod]));
  const placed = new Map<string, Pod[]>();
  const place = (pod: Pod, nodeName: string) => {
    const onNode = placed.get(nodeName) ?? [];
    placed.set(nodeName, onNode);
    onNode.push(pod);
  };
  for (const pod of cached.values()) {
    if (pod.spec?.nodeName !== undefined && !hasFinished(pod)) place(pod, pod.spec.nodeName);
  }
  for (const { pod, nodeName } of assumed.unseenIn(cached)) place(pod, nodeName);

  return cache
    .list(nodes)
    .map((node) => viewNode(node, placed.get(node.metadata.name ?? '') ?? []))
    .sort((a, b) => ((a.node.metadata.name ?? '') < (b.node.metadata.name ?? '') ? -1 : 1));
}

export function viewNode(node: Node, onNode: readonly Pod[]): NodeView {
  return { node, pods: onNode, allocatable: allocatableOf(node), requested: sum(onNode.map(requestsOf)) };
}

export function hasFinished({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}
