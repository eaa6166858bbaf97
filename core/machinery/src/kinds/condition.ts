import { deepEqual } from '../value/deep-equal.js';

/**
 * One condition of a status. `metav1.Condition` requires the last three fields; older kinds (pods, nodes) leave
 * `reason` and `message` out.
 */
export interface Condition {
  readonly type: string;
  /** 'True', 'False' or 'Unknown'. */
  readonly status: string;
  readonly observedGeneration?: number;
  /** RFC 3339: when `status` last changed. */
  readonly lastTransitionTime?: string;
  /** One CamelCase word, for programs. */
  readonly reason?: string;
  readonly message?: string;
}

/**
 * `conditions` with this one in the place of that of its type, or at the end. `lastTransitionTime` becomes `now`
 * (RFC 3339) when the status changes and stays otherwise. Gives back the same list when nothing changes.
 */
export function setCondition<T extends Condition>(conditions: readonly T[], condition: T, now: string): readonly T[] {
  const index = conditions.findIndex((each) => each.type === condition.type);
  const before = conditions[index];
  const isTransition = before === undefined || before.status !== condition.status;
  const lastTransitionTime = isTransition ? now : (before.lastTransitionTime ?? now);
  const after = { ...condition, lastTransitionTime };
  if (before === undefined) return [...conditions, after];
  return deepEqual(before, after) ? conditions : conditions.with(index, after);
}

export function findCondition<T extends Condition>(conditions: readonly T[] | undefined, type: string): T | undefined {
  return conditions?.find((each) => each.type === type);
}

/** Whether there is a condition of this type and it is 'True'. */
export function isConditionTrue(conditions: readonly Condition[] | undefined, type: string): boolean {
  return findCondition(conditions, type)?.status === 'True';
}
