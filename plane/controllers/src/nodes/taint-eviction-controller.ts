import {
  findCondition,
  isStatusError,
  keyOf,
  type Node,
  nodes,
  type Pod,
  pods,
  type Taint,
} from '@castellan/machinery';
import {
  type Change,
  type Controller,
  type ReconcileContext,
  type ReconcileResult,
  watchSource,
} from '@castellan/runtime';
import { apiTime } from '../workloads/api-time.js';
import { evictionTimeMs, isDriving } from './eviction-time.js';
import { podsByNode } from './pods-by-node.js';

/**
 * Deletes the pods of a node that do not tolerate its NoExecute taints, each when its tolerations end. Source: Kubernetes,
 * "Taint based Evictions", and kube-controller-manager's taint eviction controller.
 */
export function taintEvictionController(): Controller<Node> {
  const eviction = new TaintEviction();
  return {
    name: 'taint-eviction-controller',
    for: nodes,
    watches: [watchSource({ type: pods, map: ({ spec }) => nodeKeys(spec?.nodeName), when: isPlacementChanged })],
    indexes: [podsByNode],
    writes: [
      { type: pods, verbs: ['delete'] },
      { type: pods, subresource: 'status', verbs: ['patch'] },
    ],
    when: (change) => change.kind !== 'updated' || change.object.spec !== change.previous.spec,
    concurrency: 4,
    reconcile: (key, context) => eviction.reconcile(key.name, context),
  };
}

class TaintEviction {
  /** By node, key and effect: when a taint that does not say it was added was first seen. */
  readonly #firstSeenMs = new Map<string, number>();
  /** By node: the uids of pods that are to go, though not yet. */
  readonly #awaited = new Map<string, ReadonlySet<string>>();

  async reconcile(name: string, context: ReconcileContext): Promise<ReconcileResult> {
    const node = context.cache.get(nodes, { name });
    const taints = (node?.spec?.taints ?? []).filter(isDriving);
    this.#forgetOthers(name, taints);
    const before = this.#awaited.get(name) ?? new Set();
    this.#awaited.delete(name);
    if (taints.length === 0 && before.size === 0) return undefined;
    const nowMs = context.world.clock.now();
    const addedMs = (taint: Taint) => this.#addedMs(name, taint, nowMs);
    const awaited = new Map<string, number>();
    for (const pod of context.cache.byIndex(podsByNode, name)) {
      const { uid = '', deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined) continue;
      const dueMs = evictionTimeMs(pod, taints, addedMs);
      if (dueMs === undefined) {
        if (before.has(uid)) tell(pod, 'Cancelling deletion of Pod', context);
      } else if (dueMs > nowMs) awaited.set(uid, dueMs);
      else await evict(pod, context);
    }
    if (awaited.size === 0) return undefined;
    this.#awaited.set(name, new Set(awaited.keys()));
    return { requeueAfterMs: Math.min(...awaited.values()) - nowMs };
  }

  #addedMs(node: string, taint: Taint, nowMs: number): number {
    if (taint.timeAdded !== undefined) return Date.parse(taint.timeAdded);
    const id = `${node} ${taint.key}`;
    const addedMs = this.#firstSeenMs.get(id) ?? nowMs;
    this.#firstSeenMs.set(id, addedMs);
    return addedMs;
  }

  #forgetOthers(node: string, taints: readonly Taint[]): void {
    const present = new Set(taints.map(({ key }) => `${node} ${key}`));
    for (const id of this.#firstSeenMs.keys()) {
      if (id.startsWith(`${node} `) && !present.has(id)) this.#firstSeenMs.delete(id);
    }
  }
}

async function evict(pod: Pod, context: ReconcileContext): Promise<void> {
  const { client, signal, world } = context;
  const { uid = '' } = pod.metadata;
  const target = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: apiTime(world.clock.now()),
  };
  tell(pod, 'Marking for deletion Pod', context);
  try {
    if (findCondition(pod.status?.conditions, target.type)?.status !== 'True') {
      const body = { metadata: { uid }, status: { conditions: [target] } };
      await client.patch(pods, keyOf(pod), { type: 'strategic', body }, { subresource: 'status', signal });
    }
    await client.delete(pods, keyOf(pod), { preconditions: { uid }, signal });
  } catch (error) {
    // Gone, or another one of that name by now.
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error;
  }
}

function tell(pod: Pod, what: string, { events }: ReconcileContext): void {
  const message = `${what} ${pod.metadata.namespace}/${pod.metadata.name}`;
  events.record(pod, { type: 'Normal', reason: 'TaintManagerEviction', message });
}

function nodeKeys(name: string | undefined): readonly { readonly name: string }[] {
  return name === undefined || name === '' ? [] : [{ name }];
}

/** Where it is, and what it tolerates. */
function isPlacementChanged(change: Change<Pod>): boolean {
  return change.kind === 'added' || (change.kind === 'updated' && change.object.spec !== change.previous.spec);
}
