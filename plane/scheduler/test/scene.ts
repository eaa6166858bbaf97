import type { KubernetesObject, Namespace, Node, ObjectKey, Pod, ResourceType } from '@castellan/machinery';
import { formatKey, keyOf, namespaces, nodes, pods } from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { type Choice, type ChooseOptions, chooseNode } from '../src/choose-node.js';
import { ClusterView } from '../src/cluster/cluster-view.js';
import { fitCheck } from '../src/fit-check.js';
import type { Scene, SchedulerPlugin } from '../src/plugin.js';
import { schedulerPlugins } from '../src/plugins.js';

/** A cache that a test fills by hand. */
export class HandCache {
  readonly #objects = new Map<string, Map<string, KubernetesObject>>();

  put(type: ResourceType, ...objects: readonly KubernetesObject[]): void {
    for (const object of objects) this.#of(type).set(formatKey(keyOf(object)), object);
  }

  remove(type: ResourceType, key: ObjectKey): void {
    this.#of(type).delete(formatKey(key));
  }

  get reader(): Reader {
    return {
      get: (type: ResourceType, key: ObjectKey) => this.#of(type).get(formatKey(key)),
      list: (type: ResourceType) => [...this.#of(type).values()],
    } as unknown as Reader;
  }

  #of(type: ResourceType): Map<string, KubernetesObject> {
    const objects = this.#objects.get(type.plural) ?? new Map<string, KubernetesObject>();
    this.#objects.set(type.plural, objects);
    return objects;
  }
}

export interface SceneFacts {
  readonly nodes: readonly Node[];
  /** By the name of their node. */
  readonly placed?: Readonly<Record<string, readonly Pod[]>>;
  /** Without a node. */
  readonly pending?: readonly Pod[];
  readonly namespaces?: readonly Namespace[];
  readonly others?: readonly (readonly [ResourceType, KubernetesObject])[];
}

export function scene(facts: SceneFacts): Scene & { readonly cluster: ClusterView } {
  const cache = new HandCache();
  const cluster = new ClusterView();
  for (const node of facts.nodes) {
    cache.put(nodes, node);
    cluster.noteNode(node);
  }
  const placed = Object.entries(facts.placed ?? {}).flatMap(([nodeName, onNode]) =>
    onNode.map((pod) => ({ ...pod, spec: { containers: [], ...pod.spec, nodeName } })),
  );
  for (const pod of [...placed, ...(facts.pending ?? [])]) {
    cache.put(pods, pod);
    cluster.notePod(pod);
  }
  for (const namespace of facts.namespaces ?? []) {
    cache.put(namespaces, namespace);
    cluster.noteNamespace(namespace);
  }
  for (const [type, object] of facts.others ?? []) cache.put(type, object);
  cluster.refresh(cache.reader);
  return { cluster, cache: cache.reader };
}

export const options: ChooseOptions = { plugins: schedulerPlugins(), random: simulatedWorld(1).random };

export function choose(pod: Pod, facts: SceneFacts): Choice {
  return chooseNode(pod, scene(facts), options);
}

/** Why the pod may not go to each node, by its name; nodes that will do are left out. */
export function refusals(pod: Pod, facts: SceneFacts): Readonly<Record<string, readonly string[]>> {
  const stage = scene(facts);
  const check = fitCheck(pod, stage, options.plugins);
  return Object.fromEntries(
    stage.cluster.nodes.flatMap((node) => {
      const refusal = check.refusalOf(node);
      return refusal === undefined ? [] : [[node.name, refusal.reasons]];
    }),
  );
}

/** The points that one plugin gives each node, by its name; `undefined` when it has no say. */
export function points(
  plugin: SchedulerPlugin,
  pod: Pod,
  facts: SceneFacts,
): Readonly<Record<string, number>> | undefined {
  const stage = scene(facts);
  const scores = plugin.scoresOf?.(pod, stage.cluster.nodes, stage);
  if (scores === undefined) return undefined;
  return Object.fromEntries(stage.cluster.nodes.map(({ name }, index) => [name, scores[index] ?? Number.NaN]));
}
