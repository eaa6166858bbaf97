import { type DaemonSet, daemonSets, pods } from '@castellan/machinery';
import type { OperatorScenario, TestCluster } from '@castellan/testkit';

export const daemonSetKey = { namespace: 'default', name: 'agent' };

type DaemonSetSpec = NonNullable<DaemonSet['spec']>;

export function daemonSet(image: string, more: Partial<DaemonSetSpec> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: daemonSetKey,
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: {
        metadata: { labels: { app: 'agent' } },
        spec: { containers: [{ name: 'main', image }], terminationGracePeriodSeconds: 2 },
      },
      ...more,
    },
  };
}

/** Every node that fits has one pod of the present template, which is available, and the status says so. */
export function isEverywhere({ state, nodes }: TestCluster, count: number = nodes.names.length): boolean {
  const { spec, status, metadata } = state.get(daemonSets, daemonSetKey) ?? {};
  const image = spec?.template.spec?.containers[0]?.image;
  return (
    status?.observedGeneration === metadata?.generation &&
    (status?.updatedNumberScheduled ?? 0) === count &&
    (status?.numberAvailable ?? 0) === count &&
    state.list(pods).length === count &&
    state.list(pods).every((pod) => pod.spec?.containers[0]?.image === image)
  );
}

/** A DaemonSet that rolls from one image to another, with surge in one direction, for the checks that any controller must pass. */
export const daemonSetChecks: OperatorScenario = {
  name: 'daemon-set',
  process: 'plane',
  setUp: () => ({}),
  specs: {
    first: [daemonSet('agent:1', { revisionHistoryLimit: 0 })],
    second: [
      daemonSet('agent:2', {
        revisionHistoryLimit: 0,
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      }),
    ],
  },
  badSpec: [daemonSet('agent:1', { minReadySeconds: -1 })],
  settled: (cluster) => isEverywhere(cluster),
  outcome: [daemonSets, pods],
  mayDiffer: {
    // How often the template was changed before.
    DaemonSet: ['metadata.annotations', 'metadata.generation', 'status.observedGeneration'],
    Pod: ['metadata.labels.pod-template-generation', 'status'],
  },
};
