import { findCondition, isStatusError, type Pod, pods } from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';
import { apiTime } from '../workloads/api-time.js';
import { isActive } from '../workloads/pod-state.js';

const target = 'DisruptionTarget';
/** For so long a pod may be said to be about to go. */
const staleMs = 2 * 60_000;

/**
 * Takes back the condition DisruptionTarget of pods that were not deleted after all. What a node says of its own pods is left:
 * to end them may take any time. Source: kube-controller-manager's disruption controller, KEP-3329.
 */
export function staleDisruptionTargetController(): Controller<Pod> {
  return {
    name: 'stale-pod-disruption',
    for: pods,
    when: ({ object }) => isTarget(object),
    writes: [{ type: pods, subresource: 'status', verbs: ['patch'] }],
    async reconcile(key, { cache, client, signal, world }) {
      const pod = cache.get(pods, key);
      if (pod === undefined || !isTarget(pod)) return undefined;
      const nowMs = world.clock.now();
      const sinceMs = Date.parse(findCondition(pod.status?.conditions, target)?.lastTransitionTime ?? '');
      if (sinceMs + staleMs > nowMs) return { requeueAfterMs: sinceMs + staleMs - nowMs };
      const condition = {
        type: target,
        status: 'False',
        reason: null,
        message: null,
        lastTransitionTime: apiTime(nowMs),
      };
      const { uid, resourceVersion } = pod.metadata;
      const body = { metadata: { uid, resourceVersion }, status: { conditions: [condition] } };
      try {
        await client.patch(pods, key, { type: 'strategic', body }, { subresource: 'status', signal });
      } catch (error) {
        if (!isStatusError(error, 'NotFound', 'Conflict')) throw error;
      }
      return undefined;
    },
  };
}

function isTarget(pod: Pod): boolean {
  if (!isActive(pod)) return false;
  const condition = findCondition(pod.status?.conditions, target);
  return condition?.status === 'True' && condition.reason !== 'TerminationByKubelet';
}
