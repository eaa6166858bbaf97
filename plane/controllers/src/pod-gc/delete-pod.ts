import { isConditionTrue, isStatusError, keyOf, type Pod, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { apiTime } from '../workloads/api-time.js';
import { hasEnded } from '../workloads/pod-state.js';

/**
 * Deletes a pod at once, for nobody is there to end it: it is told to have failed first, so that its controllers count it. With
 * a message also as a target of disruption. Source: KEP-3329.
 */
export async function failAndDelete(pod: Pod, context: ReconcileContext, message?: string): Promise<void> {
  const { client, signal, world } = context;
  const { uid = '' } = pod.metadata;
  const isTold = message === undefined || isConditionTrue(pod.status?.conditions, 'DisruptionTarget');
  const target = {
    ...{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message },
    lastTransitionTime: apiTime(world.clock.now()),
  };
  const body = { metadata: { uid }, status: { phase: 'Failed', ...(isTold ? {} : { conditions: [target] }) } };
  try {
    if (!hasEnded(pod)) {
      await client.patch(pods, keyOf(pod), { type: 'strategic', body }, { subresource: 'status', signal });
    }
    await client.delete(pods, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  } catch (error) {
    // Gone, or another one of that name by now.
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error;
  }
}
