import { configMaps, pods } from '@castellan/machinery';
import type { Operator } from '@castellan/runtime';
import { drawFaults, type OperatorScenario, type TestCluster, testCluster } from '../src/index.js';
import { greeter, greeterOperator, greeters, isReady } from './sample-operator.js';

const faultsMs = 30_000;
const counts: Readonly<Record<string, number>> = { one: 1, three: 3 };

/** The sample operator, for the checks that any operator must pass. */
export function greeterChecks(create: () => Operator = () => greeterOperator()): OperatorScenario {
  return {
    name: 'greeter',
    process: 'greeter',
    setUp: () => ({ operators: [create], nodes: 1 }),
    specs: { one: [greeter({ pods: 1, text: 'hello' })], three: [greeter({ pods: 3, text: 'bye' })] },
    badSpec: [greeter({ pods: -1, text: 'hello' })],
    settled: (cluster, spec) => isCounted(cluster, counts[spec] ?? 0),
    outcome: [greeters, pods, configMaps],
    mayDiffer: { Pod: ['status'] },
    settleMs: 60_000,
  };
}

/** A greeter that is changed while faults are drawn, and left alone then. */
export async function greeterUnderFaults(seed: number, replay: string): Promise<TestCluster> {
  const cluster = await testCluster({ clock: 'virtual', seed, replay, operators: [() => greeterOperator()] });
  try {
    drawFaults(cluster, { processes: ['greeter'], forMs: faultsMs });
    await cluster.apply([greeter({ pods: 2, text: 'hello' })]);
    await cluster.advance(faultsMs / 2);
    await cluster.apply([greeter({ pods: 4, text: 'bye' })]);
    await cluster.advance(faultsMs / 2);
    await cluster.runUntil('4 pods that are ready and counted', () => isCounted(cluster, 4), 180_000);
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

function isCounted(cluster: TestCluster, count: number): boolean {
  const found = cluster.state.get(greeters, { namespace: 'default', name: 'hello' });
  const own = cluster.state.list(pods);
  const isObserved = found?.status?.observedGeneration === found?.metadata.generation;
  return isObserved && found?.status?.ready === count && own.length === count && own.every(isReady);
}
