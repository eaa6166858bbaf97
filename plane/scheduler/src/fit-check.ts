import type { Pod } from '@castellan/machinery';
import { ChangedCluster } from './cluster/changed-cluster.js';
import type { NodeView } from './cluster/node-view.js';
import { priorityOf } from './cluster/pod-facts.js';
import type { NodeFilter, Refusal, Scene, SchedulerPlugin } from './plugin.js';

/** One pod's demands, made out once and then asked of each node. */
export interface FitCheck {
  /** What speaks against every node alike. */
  readonly general: Refusal | undefined;
  /** The plugins that refused something up to now. */
  readonly refusedBy: ReadonlySet<string>;
  /** Of the first plugin that refuses the node. */
  refusalOf(node: NodeView): Refusal | undefined;
}

interface Demand {
  readonly plugin: string;
  readonly filter: NodeFilter;
}

/**
 * Room on a node that others of no lower priority are nominated to is theirs: the pod must fit with them there, and without them
 * too, since they may yet go elsewhere.
 */
export function fitCheck(pod: Pod, scene: Scene, plugins: readonly SchedulerPlugin[]): FitCheck {
  const refusedBy = new Set<string>();
  const demands: Demand[] = [];
  let general: Refusal | undefined;
  for (const { name, filterOf } of plugins) {
    const answer = filterOf?.(pod, scene);
    if (answer === undefined) continue;
    if (typeof answer === 'function') {
      demands.push({ plugin: name, filter: answer });
      continue;
    }
    refusedBy.add(name);
    general = answer;
    break;
  }
  const firstRefusal = (all: readonly Demand[], node: NodeView): Refusal | undefined => {
    for (const { plugin, filter } of all) {
      const refusal = filter(node);
      if (refusal === undefined) continue;
      refusedBy.add(plugin);
      return refusal;
    }
    return undefined;
  };
  return {
    general,
    refusedBy,
    refusalOf(node) {
      if (general !== undefined) return general;
      const refusal = firstRefusal(demands, node);
      if (refusal !== undefined) return refusal;
      const promised = promisedTo(pod, node, scene);
      if (promised.length === 0) return undefined;
      const changed = node.copy();
      for (const other of promised) changed.add(other);
      const then = { ...scene, cluster: new ChangedCluster(scene.cluster, changed) };
      return firstRefusal(demandsIn(pod, then, plugins), changed);
    },
  };
}

function demandsIn(pod: Pod, scene: Scene, plugins: readonly SchedulerPlugin[]): readonly Demand[] {
  return plugins.flatMap(({ name, filterOf }) => {
    const answer = filterOf?.(pod, scene);
    if (answer === undefined) return [];
    return [{ plugin: name, filter: typeof answer === 'function' ? answer : () => answer }];
  });
}

function promisedTo(pod: Pod, node: NodeView, { cluster }: Scene): readonly Pod[] {
  return cluster
    .nominatedTo(node.name)
    .filter((other) => other.metadata.uid !== pod.metadata.uid && priorityOf(other) >= priorityOf(pod));
}
