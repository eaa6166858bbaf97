import { formatKey, keyOf, type Node, type Pod, type Taint } from '@castellan/machinery';
import type { Labels } from './affinity-term.js';
import { factsOf } from './pod-facts.js';
import { allocatableOf, type Resources } from './resources.js';

/** One node and what is placed on it, with the sums that decisions are made on. */
export class NodeView {
  readonly #pods = new Map<string, Pod>();
  readonly #requested = new Map<string, number>();
  readonly #presumed = new Map<string, number>();
  #node: Node;
  #allocatable: Resources;

  constructor(node: Node, pods: Iterable<Pod> = []) {
    this.#node = node;
    this.#allocatable = allocatableOf(node);
    for (const pod of pods) this.add(pod);
  }

  get node(): Node {
    return this.#node;
  }

  get name(): string {
    return this.#node.metadata.name ?? '';
  }

  get labels(): Labels {
    return this.#node.metadata.labels ?? {};
  }

  get taints(): readonly Taint[] {
    return this.#node.spec?.taints ?? [];
  }

  get allocatable(): Resources {
    return this.#allocatable;
  }

  /** The requests of its pods together. */
  get requested(): Resources {
    return this.#requested;
  }

  /** As `requested`, with a little for each container that asks for nothing. */
  get presumed(): Resources {
    return this.#presumed;
  }

  get pods(): Iterable<Pod> {
    return this.#pods.values();
  }

  /** Its pods stay. */
  update(node: Node): void {
    const { allocatable, capacity } = this.#node.status ?? {};
    // Heartbeats change the status and leave these as they are.
    const isSame = node.status?.allocatable === allocatable && node.status?.capacity === capacity;
    if (!isSame) this.#allocatable = allocatableOf(node);
    this.#node = node;
  }

  add(pod: Pod): void {
    const key = formatKey(keyOf(pod));
    this.#remove(key);
    this.#pods.set(key, pod);
    this.#count(pod, 1);
  }

  remove(pod: Pod): void {
    this.#remove(formatKey(keyOf(pod)));
  }

  /** A copy that may be changed, to ask what would be. */
  copy(): NodeView {
    return new NodeView(this.#node, this.pods);
  }

  #remove(key: string): void {
    const pod = this.#pods.get(key);
    if (pod === undefined) return;
    this.#pods.delete(key);
    this.#count(pod, -1);
  }

  #count(pod: Pod, sign: 1 | -1): void {
    const { requests, presumed } = factsOf(pod);
    for (const [name, amount] of requests) addTo(this.#requested, name, sign * amount);
    for (const [name, amount] of presumed) addTo(this.#presumed, name, sign * amount);
  }
}

function addTo(amounts: Map<string, number>, name: string, amount: number): void {
  amounts.set(name, (amounts.get(name) ?? 0) + amount);
}
