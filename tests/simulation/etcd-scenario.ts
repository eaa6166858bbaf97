import { type EtcdCluster, etcdAdmin, etcdClusters, etcdOperator } from '@castellan/etcd';
import { pods } from '@castellan/machinery';
import { drawFaults, type TestCluster, testCluster } from '@castellan/testkit';
import { SimulatedEtcd } from './simulated-etcd.js';

export const etcdKey = { namespace: 'default', name: 'db' };

const faultsMs = 60_000;
/** A replacement takes ten seconds or so of etcd's own waiting, a learner up to five minutes. */
const settleMs = 20 * 60_000;

/** A cluster of a size that follows from the seed, resized while faults are drawn, and left alone then. */
export async function etcdUnderFaults(seed: number, replay: string): Promise<TestCluster> {
  const { cluster, etcd } = await etcdTestCluster({ seed, replay });
  const { random } = cluster.world;
  const sizes = [1, 2, 3, 5];
  const size = () => sizes[Math.floor(random.next() * sizes.length)] ?? 3;
  const check = watchInvariants(cluster, etcd);
  try {
    drawFaults(cluster, { processes: ['etcd'], forMs: faultsMs });
    await cluster.apply([etcdCluster(size())]);
    await passes(cluster, faultsMs / 2, check);
    const wanted = size();
    await cluster.apply([etcdCluster(wanted)]);
    await passes(cluster, faultsMs / 2, check);
    await cluster.runUntil(
      `${wanted} healthy members`,
      () => {
        check();
        return isSettled(cluster, etcd, wanted);
      },
      settleMs,
    );
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

export async function etcdTestCluster(options: { readonly seed: number; readonly replay?: string }) {
  const etcd = new SimulatedEtcd();
  const cluster = await testCluster({
    clock: 'virtual',
    ...options,
    node: { programOf: etcd.programOf },
    operators: [(life) => etcdOperator({ admin: etcdAdmin({ post: etcd.postFor(life) }) })],
  });
  return { cluster, etcd };
}

export function etcdCluster(size: number): EtcdCluster {
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    metadata: etcdKey,
    spec: { size, version: '3.5.4', repository: 'etcd' },
  };
}

/** All members vote and are ready, as many as wanted, the status says so, and what was acknowledged is there. */
function isSettled(cluster: TestCluster, etcd: SimulatedEtcd, size: number): boolean {
  const found = cluster.state.get(etcdClusters, etcdKey);
  const truths = [...etcd.clusters.values()];
  const [truth] = truths;
  return (
    truths.length === 1 &&
    truth !== undefined &&
    truth.leader !== undefined &&
    truth.members.size === size &&
    etcd.upVoters(truth).length === size &&
    cluster.state.list(pods).length === size &&
    found?.status?.readyMembers === size &&
    found.status.size === size
  );
}

/** What is looked at after every write: fails with what must never be. */
export function watchInvariants(cluster: TestCluster, etcd: SimulatedEtcd): () => void {
  let acknowledged = 0;
  let lastMs = 0;
  return () => {
    const nowMs = cluster.world.clock.monotonicNow();
    const hasClients = cluster.state.get(etcdClusters, etcdKey)?.status?.clusterID !== undefined;
    if (hasClients && nowMs - lastMs >= 1_000 && etcd.put(`key-${acknowledged}`)) {
      acknowledged += 1;
      lastMs = nowMs;
    }
    const kept = [...etcd.clusters.values()].reduce((sum, { keys }) => sum + keys.size, 0);
    if (kept !== acknowledged)
      throw cluster.failure(`${acknowledged - kept} of ${acknowledged} acknowledged keys are lost`);
    const [violation] = etcd.violations;
    if (violation !== undefined) throw cluster.failure(violation);
    for (const { metadata } of cluster.state.list(pods)) {
      const member = metadata.deletionTimestamp === undefined ? undefined : etcd.upMemberOf(metadata.name ?? '');
      if (member !== undefined) throw cluster.failure(`the pod of member ${member.name}, which is up, is deleted`);
    }
  };
}

async function passes(cluster: TestCluster, ms: number, check: () => void): Promise<void> {
  const endMs = cluster.world.clock.monotonicNow() + ms;
  await cluster.runUntil(
    'time to pass',
    () => {
      check();
      return cluster.world.clock.monotonicNow() >= endMs;
    },
    ms + 1_000,
  );
}
