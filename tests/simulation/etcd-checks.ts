import { type EtcdCluster, etcdAdmin, etcdClusters, etcdOperator } from '@castellan/etcd';
import { pods, services } from '@castellan/machinery';
import type { OperatorScenario, TestCluster } from '@castellan/testkit';
import { etcdCluster, etcdKey } from './etcd-scenario.js';
import { SimulatedEtcd } from './simulated-etcd.js';

const sizes: Readonly<Record<string, number>> = { one: 1, three: 3, two: 2 };

/** An etcd cluster that grows and shrinks, for the checks that any operator must pass. */
export const etcdChecks: OperatorScenario = {
  name: 'etcd',
  process: 'etcd',
  setUp: () => {
    const etcd = new SimulatedEtcd();
    return {
      node: { programOf: etcd.programOf },
      operators: [(life) => etcdOperator({ admin: etcdAdmin({ post: etcd.postFor(life) }) })],
    };
  },
  specs: { one: [etcdCluster(1)], three: [etcdCluster(3)], two: [etcdCluster(2)] },
  badSpec: [{ ...etcdCluster(1), spec: { size: 1, version: 'newest' } } as EtcdCluster],
  settled: (cluster, spec) => hasSize(cluster, sizes[spec] ?? 0),
  outcome: [etcdClusters, pods, services],
  mayDiffer: {
    // Who leads, and who was the first, is chance; what a member's flags are depends on when it joined.
    EtcdCluster: ['status.leader', 'status.clusterID', 'status.memberDetails', 'status.conditions', 'status.reason'],
    Pod: ['metadata.labels.etcd_node', 'spec.containers', 'spec.initContainers', 'spec.nodeName', 'status'],
  },
  settleMs: 10 * 60_000,
};

function hasSize(cluster: TestCluster, size: number): boolean {
  const found = cluster.state.get(etcdClusters, etcdKey);
  return (
    found?.status?.observedGeneration === found?.metadata.generation &&
    found?.status?.size === size &&
    found.status.readyMembers === size &&
    cluster.state.list(pods).length === size
  );
}
