import { type Pod, type PodDisruptionBudget, podDisruptionBudgets } from '@castellan/machinery';
import type { OperatorScenario } from '@castellan/testkit';

const key = { namespace: 'default', name: 'web' };
const allowed: Readonly<Record<string, number>> = { one: 2, three: 0 };

function pod(name: string): Pod {
  const spec = { containers: [{ name: 'main', image: 'web:1' }] };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'default', name, labels: { app: 'web' } }, spec };
}

function budget(minAvailable: number): PodDisruptionBudget {
  const spec = { minAvailable, selector: { matchLabels: { app: 'web' } } };
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: key, spec };
}

/** A budget of three pods that is made tighter. */
export const disruptionChecks: OperatorScenario = {
  name: 'disruption budgets',
  process: 'plane',
  setUp: () => ({ nodes: 1 }),
  arrange: ['a', 'b', 'c'].map(pod),
  specs: { one: [budget(1)], three: [budget(3)] },
  settled: (cluster, spec) => {
    const found = cluster.state.get(podDisruptionBudgets, key);
    const isCurrent = found?.status?.observedGeneration === found?.metadata.generation;
    return isCurrent && found?.status?.currentHealthy === 3 && found.status.disruptionsAllowed === allowed[spec];
  },
  outcome: [podDisruptionBudgets],
  path: /\/(poddisruptionbudgets|pods)\b/,
};
