import { isStatusError, keyOf, type Pod, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { patchPodStatus } from '../pod-status.js';

/**
 * Has the victims go, so that `pod` can take their room on the node. Each is told why by its condition DisruptionTarget before it is
 * deleted, with its own grace period. Those that go already are left to that.
 */
export async function preempt(
  pod: Pod,
  nodeName: string,
  victims: readonly Pod[],
  context: ReconcileContext,
): Promise<void> {
  const staying = victims.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  await Promise.all(
    staying.map(async (victim) => {
      if (!(await evict(victim, pod, context))) return;
      const message = `Preempted by pod ${pod.metadata.uid} on node ${nodeName}`;
      context.events.record(victim, { type: 'Normal', reason: 'Preempted', action: 'Preempting', message });
    }),
  );
}

/** `false` when the victim was gone. */
async function evict(victim: Pod, pod: Pod, context: ReconcileContext): Promise<boolean> {
  const { client, signal } = context;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    message: `${pod.spec?.schedulerName ?? 'default-scheduler'}: preempting to accommodate a higher priority pod`,
  };
  const { uid } = victim.metadata;
  try {
    await patchPodStatus(victim, { condition }, context);
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    return await client.delete(pods, keyOf(victim), { ...preconditions, signal });
  } catch (error) {
    // It is gone, or another has its name by now.
    if (isStatusError(error, 'NotFound', 'Conflict')) return false;
    throw error;
  }
}
