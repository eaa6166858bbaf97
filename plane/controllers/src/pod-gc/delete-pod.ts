import { findCondition, isStatusError, keyOf, type Pod, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { apiTime } from '../workloads/api-time.js';

/**
 * Deletes a pod at once, for nobody is there to end it: it is told to have failed first, so that its controllers count it. With
 * a message also as a target of disruption. Source: KEP-3329.
 */
export async function failAndDelete(pod: Pod, context: ReconcileContext, message?: string): Promise<void> {
  const { client, signal, world } = context;
  const { uid = '' } = pod.metadata;
  const { phase, conditions } = pod.status ?? {};
  const hasEnded = phase === 'Succeeded' || phase === 'Failed';
  const isTold = message === undefined || findCondition(conditions, 'DisruptionTarget')?.status === 'True';
  const target = {
    ...{ type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message },
    lastTransitionTime: apiTime(world.clock.now()),
  };
  const body = { metadata: { uid }, status: { phase: 'Failed', ...(isTold ? {} : { conditions: [target] }) } };
  try {
    if (!hasEnded) {
      await client.patch(pods, keyOf(pod), { type: 'strategic', body }, { subresource: 'status', signal });
    }
    await client.delete(pods, keyOf(pod), { gracePeriodSeconds: 0, preconditions: { uid }, signal });
  } catch (error) {
    // Gone, or another one of that name by now.
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error;
  }
}
