import { keyOf, type Pod, type PodCondition, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';

export interface PodStatusChange {
  readonly condition?: Pick<PodCondition, 'type' | 'status' | 'reason' | 'message'>;
  /** Where the pod is to go when others have gone from there; `''`: nowhere any more. */
  readonly nominatedNodeName?: string;
}

/** Writes what differs from the status that the pod has; nothing when nothing does. */
export async function patchPodStatus(
  pod: Pod,
  { condition, nominatedNodeName }: PodStatusChange,
  { client, signal, world }: ReconcileContext,
): Promise<void> {
  const before = pod.status?.conditions?.find(({ type }) => type === condition?.type);
  const isSame =
    condition === undefined ||
    (before?.status === condition.status && before.reason === condition.reason && before.message === condition.message);
  const isNominated = nominatedNodeName === undefined || (pod.status?.nominatedNodeName ?? '') === nominatedNodeName;
  if (isSame && isNominated) return;
  const now = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const { generation, uid } = pod.metadata;
  const written = {
    lastProbeTime: null,
    lastTransitionTime: before?.status === condition?.status ? (before?.lastTransitionTime ?? now) : now,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...condition,
  };
  const body = {
    // Refused when another pod has the name by now.
    ...(uid === undefined ? {} : { metadata: { uid } }),
    status: {
      ...(isSame ? {} : { conditions: [written] }),
      ...(isNominated ? {} : { nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName }),
    },
  };
  await client.patch(pods, keyOf(pod), { type: 'strategic', body }, { subresource: 'status', signal });
}
