import {
  controllerRevisions,
  type KubernetesObject,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '@castellan/machinery';
import type { OperatorScenario, TestCluster } from '@castellan/testkit';

export const setKey = { namespace: 'default', name: 'web' };

export interface WantedSet {
  readonly replicas: number;
  readonly image?: string;
  readonly policy?: 'OrderedReady' | 'Parallel';
  readonly partition?: number;
  readonly maxUnavailable?: number;
  readonly retention?: { readonly whenDeleted: string; readonly whenScaled: string };
}

const labels = { app: 'web' };

export function statefulSet({ replicas, image = 'one', policy, retention, ...rolling }: WantedSet): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: setKey,
    spec: {
      replicas,
      // Nothing is left of what was before: each end is to be as if the last was all that was ever asked for.
      revisionHistoryLimit: 0,
      serviceName: 'web',
      selector: { matchLabels: labels },
      podManagementPolicy: policy ?? 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: rolling },
      ...(retention === undefined ? {} : { persistentVolumeClaimRetentionPolicy: retention }),
      template: { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: {
            accessModes: ['ReadWriteOnce'],
            resources: { requests: { storage: '1Mi' } },
          },
        },
      ],
    },
  };
}

/** A smaller set has fewer claims. */
const shrinks = { whenDeleted: 'Retain', whenScaled: 'Delete' };

const wanted: Readonly<Record<string, WantedSet>> = {
  one: { replicas: 1 },
  'three of a new image': { replicas: 3, image: 'two' },
};

/** A StatefulSet that grows, is updated and shrinks, for the checks that any controller must pass. */
export const statefulSetChecks: OperatorScenario = {
  name: 'stateful-set',
  process: 'plane',
  setUp: () => ({}),
  specs: Object.fromEntries(
    Object.entries(wanted).map(([name, spec]) => [name, [statefulSet({ ...spec, retention: shrinks })]]),
  ),
  badSpec: [{ ...statefulSet({ replicas: 1 }), spec: { replicas: -1 } } as unknown as KubernetesObject],
  settled: (cluster, spec) => isDone(cluster, wanted[spec] ?? { replicas: 0 }),
  outcome: [statefulSets, pods, controllerRevisions, persistentVolumeClaims],
  mayDiffer: {
    // How many templates there were before is history.
    ControllerRevision: ['revision'],
    Pod: ['spec.nodeName', 'status'],
    PersistentVolumeClaim: ['spec.volumeName', 'metadata.annotations'],
  },
  path: /statefulsets|controllerrevisions|pods|persistentvolumeclaims/,
};

/** Every pod is ready, and of the template, and the status says so. */
export function isDone(cluster: TestCluster, { replicas, image = 'one' }: WantedSet): boolean {
  const set = cluster.state.get(statefulSets, setKey);
  const own = cluster.state.list(pods);
  return (
    set?.status?.observedGeneration === set?.metadata.generation &&
    set?.status?.replicas === replicas &&
    set.status.availableReplicas === replicas &&
    set.status.updatedReplicas === replicas &&
    set.status.currentRevision === set.status.updateRevision &&
    own.length === replicas &&
    own.every(({ spec }) => spec?.containers[0]?.image === image)
  );
}
