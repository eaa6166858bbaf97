import {
  type KubernetesObject,
  type Pod,
  type PodSpec,
  pods,
  type ReplicaSet,
  replicaSets,
} from '@castellan/machinery';
import type { OperatorScenario, TestCluster } from '@castellan/testkit';

interface PriorityClass extends KubernetesObject {
  readonly value: number;
}

const important: PriorityClass = {
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name: 'important' },
  value: 1000,
};
/** Of a simulated node's 16 cores: no two such pods fit one node. */
const cores = '10';

function workload(name: string, replicas: number, more: Partial<PodSpec> = {}): ReplicaSet {
  const labels = { app: name };
  const container = { name: 'main', image: 'web:1', resources: { requests: { cpu: cores } } };
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { namespace: 'default', name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [container], terminationGracePeriodSeconds: 2, ...more },
      },
    },
  };
}

const urgent = (replicas: number) => workload('urgent', replicas, { priorityClassName: 'important' });

/** Three nodes are full; then a pod of higher priority comes, for which one of the others has to go, and goes again. */
export const schedulerChecks: OperatorScenario = {
  name: 'scheduler',
  process: 'plane',
  setUp: () => ({ nodes: 3 }),
  arrange: [important],
  specs: { full: [workload('plain', 3), urgent(0)], contended: [workload('plain', 3), urgent(1)] },
  settled: (cluster, spec) => {
    const wanted = spec === 'full' ? { plain: 3, urgent: 0 } : { plain: 2, urgent: 1 };
    const placed = placedPods(cluster);
    const isEachAlone = new Set(placed.map((pod) => pod.spec?.nodeName)).size === placed.length;
    const count = (app: string) => placed.filter((pod) => pod.metadata.labels?.app === app && isReady(pod)).length;
    const total = spec === 'full' ? 3 : 4;
    return (
      isEachAlone &&
      cluster.state.list(pods).length === total &&
      count('plain') === wanted.plain &&
      count('urgent') === wanted.urgent &&
      cluster.state
        .list(replicaSets)
        .every(({ status, metadata }) => status?.observedGeneration === metadata.generation)
    );
  },
  outcome: [pods],
  mayDiffer: { Pod: ['spec.nodeName', 'status'] },
  path: /\/(pods|binding|nodes)\b/,
};

function placedPods({ state }: TestCluster): readonly Pod[] {
  return state.list(pods).filter(({ spec }) => (spec?.nodeName ?? '') !== '');
}

function isReady({ status }: Pod): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') === true;
}
