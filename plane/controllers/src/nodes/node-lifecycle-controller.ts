import { findCondition, isStatusError, keyOf, leases, type Node, nodes, type Pod, pods } from '@castellan/machinery';
import {
  type Change,
  type Controller,
  cached,
  type ReconcileContext,
  type ReconcileResult,
  watchSource,
} from '@castellan/runtime';
import { apiTime } from '../workloads/api-time.js';
import { EvictionPace } from './eviction-pace.js';
import { NodeHealth } from './node-health.js';
import { changedTaints, type EvictionLeave, evictionTaintOf } from './node-taints.js';
import { podsByNode } from './pods-by-node.js';
import { silentConditions } from './silent-conditions.js';

export interface NodeLifecycleOptions {
  /** For how long nothing may be heard of a node; 50 s by default, as upstream's node-monitor-grace-period. */
  readonly monitorGraceMs?: number;
  /** The same for a node that has not said anything yet; 60 s by default, as upstream's node-startup-grace-period. */
  readonly startupGraceMs?: number;
}

const leaseNamespace = 'kube-node-lease';
const nodeLeases = cached(leases, { namespaces: [leaseNamespace] });

/**
 * Notices when nothing is heard of a node any more, and says so: in its conditions, in those of its pods, and by taints that keep
 * new pods away and drive those off that are there. Other conditions become taints too. Source: KEP-589, KEP-382, and
 * kube-controller-manager's node lifecycle controller.
 */
export function nodeLifecycleController(options: NodeLifecycleOptions = {}): Controller<Node> {
  const lifecycle = new NodeLifecycle(options);
  return {
    // Events show it under this name, as on any cluster.
    name: 'node-controller',
    for: nodes,
    watches: [
      watchSource({ type: nodeLeases, map: ({ metadata }) => [{ name: metadata.name ?? '' }] }),
      // How fast pods are driven off depends on how many nodes are well.
      watchSource({ type: nodes, map: () => lifecycle.inTrouble(), when: isReadinessChanged }),
      watchSource({
        type: pods,
        map: ({ spec }) => lifecycle.inTrouble().filter(({ name }) => name === spec?.nodeName),
      }),
    ],
    indexes: [podsByNode],
    writes: [
      { type: nodes, verbs: ['patch'] },
      { type: pods, subresource: 'status', verbs: ['patch'] },
    ],
    concurrency: 4,
    reconcile: (key, context) => lifecycle.reconcile(key.name, context),
  };
}

class NodeLifecycle {
  readonly #graceMs: { readonly monitor: number; readonly startup: number };
  readonly #health = new NodeHealth();
  readonly #pace = new EvictionPace();
  readonly #inTrouble = new Set<string>();
  /** The uids of known nodes, by name. */
  readonly #registered = new Map<string, string>();

  constructor({ monitorGraceMs = 50_000, startupGraceMs = 60_000 }: NodeLifecycleOptions) {
    this.#graceMs = { monitor: monitorGraceMs, startup: startupGraceMs };
  }

  inTrouble(): readonly { readonly name: string }[] {
    return [...this.#inTrouble].map((name) => ({ name }));
  }

  async reconcile(name: string, context: ReconcileContext): Promise<ReconcileResult> {
    const found = context.cache.get(nodes, { name });
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
      this.#health.forget(name);
      this.#inTrouble.delete(name);
      this.#registered.delete(name);
      return undefined;
    }
    this.#register(found, context);
    try {
      const { node, checkMs } = await this.#check(found, context);
      const evictMs = await this.#taint(node, context);
      const nextMs = [checkMs, evictMs].filter((ms) => ms !== undefined);
      return nextMs.length === 0 ? undefined : { requeueAfterMs: Math.min(...nextMs) };
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  #register(node: Node, { events }: ReconcileContext): void {
    const { name = '', uid = '' } = node.metadata;
    if (this.#registered.get(name) === uid) return;
    this.#registered.set(name, uid);
    const message = `Node ${name} event: Registered Node ${name} in Controller`;
    events.record(node, { type: 'Normal', reason: 'RegisteredNode', message });
  }

  /** Notes that nothing is heard of the node; gives the node as it is then, and when to look again. */
  async #check(node: Node, context: ReconcileContext): Promise<{ readonly node: Node; readonly checkMs?: number }> {
    const { cache, world } = context;
    const { name = '' } = node.metadata;
    const lease = cache.get(nodeLeases, { namespace: leaseNamespace, name });
    const silentMs = this.#health.silentMs(node, lease, world.clock.monotonicNow());
    const ready = findCondition(node.status?.conditions, 'Ready');
    const graceMs = ready === undefined ? this.#graceMs.startup : this.#graceMs.monitor;
    if (silentMs !== undefined && silentMs <= graceMs) {
      const isKnown = ready?.status !== 'Unknown';
      return isKnown ? { node, checkMs: graceMs - silentMs + 1 } : { node };
    }
    const told = silentMs === undefined ? node : await this.#tellSilent(node, context);
    if (silentMs !== undefined) await this.#tellPods(told, context);
    return { node: told };
  }

  async #tellSilent(node: Node, { client, events, signal, world }: ReconcileContext): Promise<Node> {
    const before = findCondition(node.status?.conditions, 'Ready');
    const conditions = silentConditions(node, apiTime(world.clock.now()));
    const isTold = conditions.every((condition) => node.status?.conditions?.includes(condition) === true);
    if (isTold) return node;
    const { resourceVersion, name } = node.metadata;
    // Refused when the node was heard of meanwhile.
    const body = { metadata: { resourceVersion }, status: { conditions } };
    const written = await client.patch(nodes, keyOf(node), { type: 'merge', body }, { subresource: 'status', signal });
    if (before?.status === 'True') {
      const message = `Node ${name} status is now: NodeNotReady`;
      events.record(node, { type: 'Normal', reason: 'NodeNotReady', message });
    }
    return written;
  }

  /** Nobody knows whether they are ready: no Service must send anybody there. */
  async #tellPods(node: Node, context: ReconcileContext): Promise<void> {
    const own = context.cache.byIndex(podsByNode, node.metadata.name ?? '');
    await Promise.all(own.map((pod) => tellNotReady(pod, context)));
  }

  /** Writes the taints that the node is to have; gives when it is this node's turn to lose its pods, if it is to wait for that. */
  async #taint(node: Node, { cache, client, signal, world }: ReconcileContext): Promise<number | undefined> {
    const { name = '', resourceVersion } = node.metadata;
    const isInTrouble = evictionTaintOf(node) !== undefined;
    if (isInTrouble) this.#inTrouble.add(name);
    else this.#inTrouble.delete(name);
    const others = cache.list(nodes).filter(({ metadata }) => metadata.name !== name);
    const waitMs = isInTrouble ? this.#pace.ask(node, [...others, node], world.clock.monotonicNow()) : undefined;
    const taints = changedTaints(node, leaveAfter(waitMs), apiTime(world.clock.now()));
    if (taints !== undefined) {
      const body = { metadata: { resourceVersion }, spec: { taints: taints.length === 0 ? null : taints } };
      await client.patch(nodes, keyOf(node), { type: 'merge', body }, { signal });
    }
    return waitMs === 0 ? undefined : waitMs;
  }
}

function leaveAfter(waitMs: number | undefined): EvictionLeave {
  if (waitMs === undefined) return 'never';
  return waitMs === 0 ? 'now' : 'later';
}

async function tellNotReady(pod: Pod, { client, events, signal, world }: ReconcileContext): Promise<void> {
  const ready = findCondition(pod.status?.conditions, 'Ready');
  if (ready?.status !== 'True') return;
  const condition = { type: 'Ready', status: 'False', lastTransitionTime: apiTime(world.clock.now()) };
  const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
  try {
    await client.patch(pods, keyOf(pod), { type: 'strategic', body }, { subresource: 'status', signal });
  } catch (error) {
    // Gone, or another one of that name by now.
    if (isStatusError(error, 'NotFound', 'Conflict')) return;
    throw error;
  }
  events.record(pod, { type: 'Warning', reason: 'NodeNotReady', message: 'Node is not ready' });
}

function isReadinessChanged(change: Change<Node>): boolean {
  if (change.kind !== 'updated') return true;
  const statusOf = ({ status }: Node) => findCondition(status?.conditions, 'Ready')?.status;
  return statusOf(change.object) !== statusOf(change.previous);
}
