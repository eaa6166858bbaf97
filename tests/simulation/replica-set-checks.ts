import { pods, type ReplicaSet, replicaSets } from '@castellan/machinery';
import type { OperatorScenario } from '@castellan/testkit';

export const replicaSetKey = { namespace: 'default', name: 'web' };

const sizes: Readonly<Record<string, number>> = { three: 3, one: 1, none: 0 };

export function replicaSet(replicas: number, minReadySeconds = 0): ReplicaSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: replicaSetKey,
    spec: {
      replicas,
      minReadySeconds,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image: 'web:1' }], terminationGracePeriodSeconds: 2 },
      },
    },
  };
}

/** A ReplicaSet that grows, shrinks and ends, for the checks that any controller must pass. */
export const replicaSetChecks: OperatorScenario = {
  name: 'replica-set',
  process: 'plane',
  setUp: () => ({}),
  specs: { three: [replicaSet(3)], one: [replicaSet(1)], none: [replicaSet(0)] },
  badSpec: [{ ...replicaSet(1), spec: { selector: {}, template: {} } } as ReplicaSet],
  settled: ({ state }, spec) => {
    const wanted = sizes[spec] ?? 0;
    const { status, metadata } = state.get(replicaSets, replicaSetKey) ?? {};
    return (
      status?.observedGeneration === metadata?.generation &&
      (status?.availableReplicas ?? 0) === wanted &&
      state.list(pods).length === wanted
    );
  },
  outcome: [replicaSets, pods],
  mayDiffer: { Pod: ['spec.nodeName', 'status'] },
};
