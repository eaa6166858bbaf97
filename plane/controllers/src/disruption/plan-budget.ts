import { deepEqual, findCondition, type Pod, type PodDisruptionBudget } from '@castellan/machinery';
import { apiTime } from '../workloads/api-time.js';
import { isReady } from '../workloads/pod-state.js';

type BudgetStatus = NonNullable<PodDisruptionBudget['status']>;

export interface BudgetFacts {
  readonly budget: PodDisruptionBudget;
  /** Those that it selects. */
  readonly pods: readonly Pod[];
  /** How many the controllers of these pods want; of meaning where `countsByScale` says so. */
  readonly scale: number;
  readonly nowMs: number;
}

export interface BudgetPlan {
  readonly status: BudgetStatus;
  readonly isChanged: boolean;
  /** Pods whose eviction was agreed to, and that are not being deleted after all that time. */
  readonly notDeleted: readonly Pod[];
  /** When an eviction that was agreed to will be given up, in milliseconds from now. */
  readonly waitMs?: number;
}

/** An eviction that was agreed to is counted for so long until the pod is being deleted. */
const deletionTimeoutMs = 2 * 60_000;
const allowed = 'DisruptionAllowed';

/** Whether the budget is a share of what controllers want, or of the pods that there are. */
export function countsByScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';
}

/** What a budget allows now. Source: kube-controller-manager's disruption controller. */
export function planBudget({ budget, pods, scale, nowMs }: BudgetFacts): BudgetPlan {
  const { disrupted, notDeleted, waitMs } = disruptedPods(budget, pods, nowMs);
  const expectedPods = countsByScale(budget) ? scale : pods.length;
  const desiredHealthy = desiredOf(budget, expectedPods);
  const healthy = pods.filter(
    (pod) =>
      isReady(pod) &&
      pod.metadata.deletionTimestamp === undefined &&
      !Object.hasOwn(disrupted, pod.metadata.name ?? ''),
  );
  const currentHealthy = healthy.length;
  // Without pods nothing is allowed: the first ones must not go before they are counted.
  const disruptionsAllowed = expectedPods <= 0 ? 0 : Math.max(0, currentHealthy - desiredHealthy);
  const { generation } = budget.metadata;
  const status: BudgetStatus = {
    ...(Object.keys(disrupted).length === 0 ? {} : { disruptedPods: disrupted }),
    disruptionsAllowed,
    currentHealthy,
    desiredHealthy,
    expectedPods,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    conditions: withAllowed(budget, disruptionsAllowed > 0, nowMs),
  };
  const isChanged = !deepEqual(budget.status ?? {}, status);
  return { status, isChanged, notDeleted, ...(waitMs === undefined ? {} : { waitMs }) };
}

/** What is told when the budget cannot be worked out: nothing may go. */
export function failedStatus(budget: PodDisruptionBudget, message: string, nowMs: number): BudgetStatus {
  const before = budget.status ?? { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  const conditions = withCondition(budget, { status: 'False', reason: 'SyncFailed', message }, nowMs);
  return { ...before, disruptionsAllowed: 0, conditions };
}

function desiredOf({ spec }: PodDisruptionBudget, expected: number): number {
  if (spec?.maxUnavailable !== undefined) return Math.max(0, expected - amountOf(spec.maxUnavailable, expected));
  return spec?.minAvailable === undefined ? 0 : amountOf(spec.minAvailable, expected);
}

/** A percentage is rounded up: what is left over keeps a pod, or lets one go. */
function amountOf(amount: number | string, of: number): number {
  if (typeof amount === 'number') return amount;
  return amount.endsWith('%') ? Math.ceil((Number(amount.slice(0, -1)) * of) / 100) : Number(amount);
}

/** The evictions that were agreed to, without those that have come to pass or were given up. */
function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], nowMs: number) {
  const disrupted: Record<string, string> = {};
  const notDeleted: Pod[] = [];
  let waitMs: number | undefined;
  for (const pod of pods) {
    const name = pod.metadata.name ?? '';
    const at = status?.disruptedPods?.[name];
    if (at === undefined || pod.metadata.deletionTimestamp !== undefined) continue;
    const leftMs = Date.parse(at) + deletionTimeoutMs - nowMs;
    if (leftMs <= 0) notDeleted.push(pod);
    else {
      disrupted[name] = at;
      waitMs = Math.min(leftMs, waitMs ?? leftMs);
    }
  }
  return { disrupted, notDeleted, waitMs };
}

function withAllowed(budget: PodDisruptionBudget, isAllowed: boolean, nowMs: number) {
  const condition = isAllowed
    ? { status: 'True', reason: 'SufficientPods', message: '' }
    : { status: 'False', reason: 'InsufficientPods', message: '' };
  return withCondition(budget, condition, nowMs);
}

function withCondition(
  { metadata, status }: PodDisruptionBudget,
  condition: { readonly status: string; readonly reason: string; readonly message: string },
  nowMs: number,
) {
  const before = status?.conditions ?? [];
  const known = findCondition(before, allowed);
  const next = {
    type: allowed,
    ...condition,
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    lastTransitionTime: known?.status === condition.status ? known.lastTransitionTime : apiTime(nowMs),
  };
  return known === undefined ? [...before, next] : before.map((each) => (each === known ? next : each));
}
