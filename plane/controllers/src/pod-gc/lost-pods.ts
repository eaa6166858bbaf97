import { isConditionTrue, type Node, nodes, type ObjectKey, type Pod, pods } from '@castellan/machinery';
import {
  type Change,
  type Controller,
  type ReconcileContext,
  type ReconcileResult,
  watchSource,
} from '@castellan/runtime';
import { podsByNode } from '../nodes/pods-by-node.js';
import { failAndDelete } from './delete-pod.js';

/** A node that is gone for so long comes back no more. */
const quarantineMs = 40_000;
const outOfService = 'node.kubernetes.io/out-of-service';

/**
 * Deletes pods that no node agent will ever end: those of nodes that are gone, and those that are to end on a node of which an
 * administrator says that it is out of service. Source: kube-controller-manager's podgc.
 */
export function lostPodsController(): Controller<Node> {
  /** By node: since when it is missed, on the clock that never goes back. */
  const missingSince = new Map<string, number>();
  return {
    name: 'pod-garbage-collector',
    for: nodes,
    watches: [watchSource({ type: pods, map: nodeOf, when: isNews })],
    indexes: [podsByNode],
    writes: [
      { type: pods, verbs: ['delete'] },
      { type: pods, subresource: 'status', verbs: ['patch'] },
    ],
    async reconcile(key, context) {
      const node = context.cache.get(nodes, key);
      const own = context.cache.byIndex(podsByNode, key.name);
      if (node === undefined && own.length > 0) return deleteOrphans(key, own, missingSince, context);
      missingSince.delete(key.name);
      if (node === undefined || !isOutOfService(node)) return undefined;
      for (const pod of own) if (pod.metadata.deletionTimestamp !== undefined) await failAndDelete(pod, context);
      return undefined;
    },
  };
}

async function deleteOrphans(
  key: ObjectKey,
  own: readonly Pod[],
  missingSince: Map<string, number>,
  context: ReconcileContext,
): Promise<ReconcileResult> {
  const nowMs = context.world.clock.monotonicNow();
  const sinceMs = missingSince.get(key.name) ?? nowMs;
  missingSince.set(key.name, sinceMs);
  const restMs = sinceMs + quarantineMs - nowMs;
  if (restMs > 0) return { requeueAfterMs: restMs };
  if ((await context.client.find(nodes, key, { signal: context.signal })) !== undefined) return undefined;
  for (const pod of own) await failAndDelete(pod, context, 'PodGC: node no longer exists');
  return undefined;
}

function isOutOfService({ spec, status }: Node): boolean {
  return (
    spec?.taints?.some((taint) => taint.key === outOfService) === true && !isConditionTrue(status?.conditions, 'Ready')
  );
}

function isNews(change: Change<Pod>): boolean {
  if (change.kind !== 'updated') return change.kind === 'added';
  const { previous, object } = change;
  return (
    previous.spec?.nodeName !== object.spec?.nodeName ||
    previous.metadata.deletionTimestamp !== object.metadata.deletionTimestamp
  );
}

function nodeOf({ spec }: Pod): readonly ObjectKey[] {
  const { nodeName = '' } = spec ?? {};
  return nodeName === '' ? [] : [{ name: nodeName }];
}
