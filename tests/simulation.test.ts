import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods } from '@castellan/machinery';
import { checkOperator, type TestCluster } from '@castellan/testkit';
import { etcdChecks } from './simulation/etcd-checks.js';
import { etcdCluster, etcdTestCluster, etcdUnderFaults, watchInvariants } from './simulation/etcd-scenario.js';

const initialState = 'etcd.database.coreos.com/initial-cluster-state';

test('etcd clusters under drawn faults never split, never lose quorum by our step nor what was acknowledged, and settle', async () => {
  for (let seed = 1; seed <= 6; seed++) {
    const cluster = await etcdUnderFaults(seed, `npm run sim -- --scenario etcd --seeds 1 --seed ${seed}`);
    await cluster.stop();
  }
});

test('the same seed gives the same history of an etcd cluster under faults', async () => {
  const histories: string[] = [];
  for (let run = 0; run < 2; run++) {
    const cluster = await etcdUnderFaults(3, '');
    histories.push(cluster.historyText());
    await cluster.stop();
  }
  assert.equal(histories[0], histories[1]);
});

test('a second cluster, and a member whose pod is deleted while it is up, are seen', async () => {
  const { cluster, etcd } = await etcdTestCluster({ seed: 1 });
  const check = watchInvariants(cluster, etcd);
  const hasSize = (size: number) => () => {
    check();
    return etcdChecks.settled(cluster, size === 1 ? 'one' : 'three');
  };
  try {
    await cluster.apply([etcdCluster(3)]);
    await cluster.runUntil('three members', hasSize(3), 300_000);
    await deleteFirstPod(cluster);
    assert.throws(check, /the pod of member db-\w+, which is up, is deleted/);
  } finally {
    await cluster.stop();
  }
  const other = await etcdTestCluster({ seed: 1 });
  const checkOther = watchInvariants(other.cluster, other.etcd);
  try {
    await other.cluster.apply([etcdCluster(1)]);
    await other.cluster.runUntil('one member', () => etcdChecks.settled(other.cluster, 'one'), 300_000);
    checkOther();
    const [seed] = other.cluster.state.list(pods);
    const key = { namespace: 'default', name: seed?.metadata.name ?? '' };
    const body = { metadata: { annotations: { [initialState]: 'new' } } };
    await other.cluster.client.patch(pods, key, { type: 'merge', body });
    other.cluster.nodes.loseDisk(key);
    other.cluster.nodes.exit(key, 'etcd');
    await other.cluster.advance(5_000);
    assert.throws(checkOther, /1 of 2 acknowledged keys are lost/);
    assert.deepEqual(other.etcd.violations, [`a second cluster was formed by ${key.name}`]);
  } finally {
    await other.cluster.stop();
  }
});

test('the operator of etcd passes the checks for any operator, at points spread over a growth and a shrinking', async () => {
  const replay = ({ check, point }: { readonly check: string; readonly point: string }) =>
    `npm run sim -- --scenario etcd --check '${check}' --point '${point}'`;
  const report = await checkOperator(etcdChecks, { atMost: 2, replay });
  assert.deepEqual(report.failures, [], String(report));
});

async function deleteFirstPod(cluster: TestCluster): Promise<void> {
  const [pod] = cluster.state.list(pods);
  await cluster.client.delete(pods, { namespace: 'default', name: pod?.metadata.name ?? '' });
}
