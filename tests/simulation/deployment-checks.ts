import { type Deployment, deployments, pods, replicaSets } from '@castellan/machinery';
import type { OperatorScenario, TestCluster } from '@castellan/testkit';

export const deploymentKey = { namespace: 'default', name: 'web' };

type DeploymentSpec = NonNullable<Deployment['spec']>;

export function deployment(replicas: number, image: string, more: Partial<DeploymentSpec> = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: deploymentKey,
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 2 },
      },
      ...more,
    },
  };
}

/** All pods are of the present template, as many as wanted, available, and the status says so. */
export function isRolledOut({ state }: TestCluster): boolean {
  const { spec, status, metadata } = state.get(deployments, deploymentKey) ?? {};
  const image = spec?.template.spec?.containers[0]?.image;
  const { replicas = 1 } = spec ?? {};
  return (
    status?.observedGeneration === metadata?.generation &&
    (status?.updatedReplicas ?? 0) === replicas &&
    (status?.availableReplicas ?? 0) === replicas &&
    state.list(pods).length === replicas &&
    state.list(pods).every((pod) => pod.spec?.containers[0]?.image === image)
  );
}

/** A Deployment that rolls from one image to another, resized and without history, for the checks that any controller must pass. */
export const deploymentChecks: OperatorScenario = {
  name: 'deployment',
  process: 'plane',
  setUp: () => ({}),
  specs: {
    first: [deployment(2, 'web:1', { revisionHistoryLimit: 0 })],
    second: [deployment(3, 'web:2', { revisionHistoryLimit: 0 })],
  },
  badSpec: [deployment(-1, 'web:1')],
  settled: (cluster) => isRolledOut(cluster) && cluster.state.list(replicaSets).length === 1,
  outcome: [deployments, replicaSets, pods],
  mayDiffer: {
    // How often it was rolled out before, and how it came there.
    Deployment: ['metadata.annotations', 'metadata.generation', 'status.observedGeneration', 'status.conditions'],
    ReplicaSet: ['metadata.annotations', 'metadata.generation', 'status.observedGeneration'],
    Pod: ['spec.nodeName', 'status'],
  },
};
