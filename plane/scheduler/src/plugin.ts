import type { KubernetesObject, Pod, ResourceType } from '@castellan/machinery';
import type { Change, Reader, ReconcileContext } from '@castellan/runtime';
import type { ClusterState } from './cluster/cluster-state.js';
import type { NodeView } from './cluster/node-view.js';

/**
 * One concern of scheduling: where a pod may go, where it goes best, and what has to be done for it before it goes there.
 * Everything but `preBind` is synchronous: a decision sees one state of the cluster, and the next sees this decision.
 * Source: upstream's scheduling framework, whose extension points these are.
 */
export interface SchedulerPlugin {
  /** As upstream calls its own. */
  readonly name: string;
  /** How much its scores count beside those of others; 1 by default. */
  readonly weight?: number;
  /** Which changes may help a pod that it refused. Kinds that are named here are watched. */
  readonly hints?: readonly Hint[];
  /** What the pod asks of a node, made once for each decision. `undefined`: nothing. A refusal: there is no such node. */
  filterOf?(pod: Pod, scene: Scene): NodeFilter | Refusal | undefined;
  /** How good each of the feasible nodes is, 0 to 100, in their order. `undefined`: all alike. */
  scoresOf?(pod: Pod, feasible: readonly NodeView[], scene: Scene): readonly number[] | undefined;
  /**
   * The node was chosen: from now on other decisions must reckon with what the pod takes there. Gives the way to undo that,
   * which is taken when the pod does not come there after all.
   */
  reserve?(pod: Pod, nodeName: string, scene: Scene): (() => void) | undefined;
  /**
   * Writes what must be written before the pod is bound. `waiting`: others must act first; called again after a change that
   * a hint names, and now and then. The reservation stays. A `Refusal` gives it up: the pod is placed anew. `undefined`: nothing is to be done.
   */
  preBind?(pod: Pod, nodeName: string, context: ReconcileContext): Promise<PreBindState> | undefined;
}

export type PreBindState = 'ready' | 'waiting' | Refusal;

/** Why the pod cannot run on this node; `undefined` when it can, as far as this plugin knows. */
export type NodeFilter = (node: NodeView) => Refusal | undefined;

export interface Refusal {
  /** In upstream's words; each is counted over the nodes. */
  readonly reasons: readonly string[];
  /** Whether pods that go from the node might help. */
  readonly isHelpedByPreemption: boolean;
}

/** What a decision is made on. */
export interface Scene {
  readonly cluster: ClusterState;
  readonly cache: Reader;
}

/** A change of an object of `type` that may let a pod be placed which the plugin refused. */
export interface Hint<T extends KubernetesObject = KubernetesObject> {
  readonly type: ResourceType<T>;
  mayHelp(pod: Pod, change: Change<T>): boolean;
}

/** Keeps hints of different kinds in one array while `mayHelp` stays typed. */
export function hint<T extends KubernetesObject>(of: Hint<T>): Hint {
  return of as unknown as Hint;
}

/** Nothing but a change of the node, or another node, helps. */
export function refused(...reasons: readonly string[]): Refusal {
  return { reasons, isHelpedByPreemption: false };
}

/** Fewer pods on the node may help. */
export function crowded(...reasons: readonly string[]): Refusal {
  return { reasons, isHelpedByPreemption: true };
}

/** What the first of several filters has against a node. */
export function firstRefusal(filters: readonly NodeFilter[]): NodeFilter {
  return (node) => {
    for (const filter of filters) {
      const refusal = filter(node);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  };
}
