import { StatusError } from '@castellan/machinery';
import { forbidden } from '../errors.js';
import { type ApiObject, count, record, records, text } from '../json.js';

const maxDisruptedPods = 2000;
const retryAfterSeconds = 10;
const allowed = 'DisruptionAllowed';

/** Why a budget lets no pod go, as the reply that says so; undefined: it lets one go. */
export function budgetProblem(budget: ApiObject): StatusError | undefined {
  const name = budget.metadata.name ?? '';
  const status = record(budget.status);
  const left = count(status.disruptionsAllowed) ?? 0;
  if ((count(status.observedGeneration) ?? 0) < (budget.metadata.generation ?? 0)) {
    return refusal(`The disruption budget ${name} is still being processed by the server.`, retryAfterSeconds);
  }
  const budgets = { group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };
  if (left < 0) return forbidden(budgets, name, 'pdb disruptions allowed is negative');
  if (Object.keys(record(status.disruptedPods)).length > maxDisruptedPods) {
    const problem = 'DisruptedPods map too big - too many evictions not confirmed by PDB controller';
    return forbidden(budgets, name, problem);
  }
  return left === 0 ? refusal(spentText(budget)) : undefined;
}

function refusal(cause: string, seconds?: number): StatusError {
  return StatusError.of('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
    causes: [{ reason: 'DisruptionBudget', message: cause }],
    ...(seconds === undefined ? {} : { retryAfterSeconds: seconds }),
  });
}

function spentText({ metadata, status }: ApiObject): string {
  const { currentHealthy, desiredHealthy, conditions } = record(status);
  const [current, desired] = [count(currentHealthy) ?? 0, count(desiredHealthy) ?? 0];
  const condition = records(conditions).find(({ type }) => type === allowed);
  const budget = `The disruption budget ${metadata.name ?? ''}`;
  if (condition?.reason === 'SyncFailed') {
    return `${budget} does not allow evicting pods currently because it failed sync: ${text(condition.message) ?? ''}`;
  }
  if (current <= desired) return `${budget} needs ${desired} healthy pods and has ${current} currently`;
  return `${budget} does not allow evicting pods currently`;
}

/** A budget that has let a pod go: the controller is told which, and counts it no more. */
export function withEvicted(budget: ApiObject, podName: string, now: string): ApiObject {
  const status = record(budget.status);
  const left = (count(status.disruptionsAllowed) ?? 0) - 1;
  const next = {
    ...status,
    disruptionsAllowed: left,
    disruptedPods: { ...record(status.disruptedPods), [podName]: now },
  };
  return { ...budget, status: left === 0 ? { ...next, conditions: withSpent(budget, now) } : next };
}

function withSpent({ metadata, status }: ApiObject, now: string): readonly unknown[] {
  const conditions = records(record(status).conditions);
  const before = conditions.find(({ type }) => type === allowed);
  const spent = {
    type: allowed,
    status: 'False',
    ...(metadata.generation === undefined ? {} : { observedGeneration: metadata.generation }),
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
    reason: 'InsufficientPods',
    message: '',
  };
  return before === undefined
    ? [...conditions, spent]
    : conditions.map((condition) => (condition === before ? spent : condition));
}
