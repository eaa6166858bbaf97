import type { Node } from '@castellan/machinery';

type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

/** What only the node's agent can know. */
const reported = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];

/** The conditions of a node of which nothing is heard: what its agent said last is not known to be so any more. */
export function silentConditions({ metadata, status }: Node, now: string): readonly NodeCondition[] {
  const conditions = status?.conditions ?? [];
  const told = conditions.map((condition) => {
    if (!reported.includes(condition.type) || condition.status === 'Unknown') return condition;
    const unknown = { status: 'Unknown', reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
    return { ...condition, ...unknown, lastTransitionTime: now };
  });
  const untold = reported.filter((type) => !conditions.some((condition) => condition.type === type));
  const never = untold.map((type) => ({
    type,
    status: 'Unknown',
    reason: 'NodeStatusNeverUpdated',
    message: 'Kubelet never posted node status.',
    lastHeartbeatTime: metadata.creationTimestamp ?? now,
    lastTransitionTime: now,
  }));
  return [...told, ...never];
}
