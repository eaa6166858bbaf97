import {
  deployments,
  formatLabelSelector,
  isStatusError,
  labelSelectorOf,
  matchesLabels,
  type ObjectKey,
  type Pod,
  type PodDisruptionBudget,
  type PodTemplateSpec,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from '@castellan/machinery';
import { type Controller, type ReconcileContext, updateStatus, watchSource } from '@castellan/runtime';
import { SelectingOwners } from '../ownership/selecting-owners.js';
import { BudgetError } from './budget-error.js';
import { type ExpectedPods, expectedPods } from './expected-pods.js';
import { countsByScale, failedStatus, planBudget } from './plan-budget.js';

interface OfTemplate {
  readonly metadata: { readonly namespace?: string };
  readonly spec?: { readonly template?: PodTemplateSpec };
}

/**
 * Keeps in the status of PodDisruptionBudgets how many pods may be evicted now; pods/eviction of the API server takes from it.
 * Source: Kubernetes, "Specifying a Disruption Budget for your Application".
 */
export function disruptionController(): Controller<PodDisruptionBudget> {
  const selecting = new SelectingOwners();
  /** A change of scale concerns the budgets of the pods that it is about. */
  const ofTemplate = ({ metadata: { namespace = '' }, spec }: OfTemplate) => {
    const labels = spec?.template?.metadata?.labels;
    return selecting.selecting({ namespace, ...(labels === undefined ? {} : { labels }) });
  };
  return {
    // What upstream's events of budgets come from.
    name: 'controllermanager',
    for: podDisruptionBudgets,
    watches: [
      watchSource({ type: pods, map: (pod) => selecting.selecting(pod.metadata) }),
      watchSource({ type: replicaSets, map: ofTemplate }),
      watchSource({ type: deployments, map: ofTemplate }),
      watchSource({ type: statefulSets, map: ofTemplate }),
    ],
    concurrency: 4,
    async reconcile(key, context) {
      const budget = context.cache.get(podDisruptionBudgets, key);
      if (budget?.spec?.selector === undefined) selecting.forget(key);
      if (budget === undefined) return undefined;
      try {
        return await reconcile(budget, key, selecting, context);
      } catch (error) {
        // An eviction has taken from the budget in between: it is worked out anew.
        if (isStatusError(error, 'Conflict')) return { requeueAfterMs: 20 };
        throw error;
      }
    },
  };
}

async function reconcile(
  budget: PodDisruptionBudget,
  key: ObjectKey,
  selecting: SelectingOwners,
  context: ReconcileContext,
) {
  const { client, events, world } = context;
  const own = selectedPods(budget, key, selecting, context);
  if (own.length === 0) {
    events.record(budget, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
  }
  let expected: ExpectedPods = { count: 0, unmanaged: [] };
  try {
    if (countsByScale(budget)) expected = await expectedPods(own, context);
  } catch (error) {
    if (!(error instanceof BudgetError)) throw error;
    const message = `Failed to calculate the number of expected pods: ${error.message}`;
    events.record(budget, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message });
    await updateStatus(client, podDisruptionBudgets, budget, failedStatus(budget, error.message, world.clock.now()));
    return undefined;
  }
  if (expected.unmanaged.length > 0) tellUnmanaged(budget, context);
  const plan = planBudget({ budget, pods: own, scale: expected.count, nowMs: world.clock.now() });
  if (plan.isChanged) await updateStatus(client, podDisruptionBudgets, budget, plan.status);
  const shown = `${key.namespace ?? ''}/${key.name}`;
  for (const pod of plan.notDeleted) {
    const message = `Pod was expected by PDB ${shown} to be deleted but it wasn't`;
    events.record(pod, { type: 'Warning', reason: 'NotDeleted', message });
  }
  return plan.waitMs === undefined ? undefined : { requeueAfterMs: plan.waitMs };
}

/** Without a selector none; with an empty one all of the namespace. */
function selectedPods(
  { spec }: PodDisruptionBudget,
  key: ObjectKey,
  selecting: SelectingOwners,
  { cache }: ReconcileContext,
): readonly Pod[] {
  if (spec?.selector === undefined) return [];
  const selector = labelSelectorOf(spec.selector);
  selecting.remember(key, selector);
  const { namespace = '' } = key;
  return cache.list(pods, { namespace }).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
}

function tellUnmanaged(budget: PodDisruptionBudget, { events }: ReconcileContext): void {
  const selector = formatLabelSelector(labelSelectorOf(budget.spec?.selector ?? {}));
  const message =
    `Pods selected by this PodDisruptionBudget (selector: ${selector}) were found to be unmanaged. As a result, the status of the ` +
    'PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ' +
    '".spec.minAvailable" field of the PDB to an integer value.';
  events.record(budget, { type: 'Warning', reason: 'UnmanagedPods', message });
}
