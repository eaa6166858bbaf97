import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findCondition, leases, type Node, nodes, type Pod, pods, type ReplicaSet } from '@castellan/machinery';
import type { Controller, Operator } from '@castellan/runtime';
import { type TestCluster, testCluster } from '@castellan/testkit';

const replicaSet: ReplicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { namespace: 'default', name: 'web' },
  spec: {
    replicas: 3,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'main', image: 'web:1' }], terminationGracePeriodSeconds: 2 },
    },
  },
};

test('NL1, NL3, NL4, NL5: a node that is lost is noticed, its pods are replaced elsewhere, and it may come back', async (t) => {
  const silent = new Set<string>();
  const cluster = await testCluster({ clock: 'virtual', nodes: 3, operators: [() => heartbeats(silent)] });
  t.after(() => cluster.stop());
  await cluster.apply([replicaSet]);
  await cluster.runUntil('three pods to be ready', () => readyPods(cluster).length === 3, 60_000);
  const [first] = readyPods(cluster);
  const lost = first?.spec?.nodeName ?? '';
  assert.equal(new Set(readyPods(cluster).map(({ spec }) => spec?.nodeName)).size, 3);

  const before = cluster.world.clock.now();
  silent.add(lost);
  cluster.nodes.powerOff(lost);
  await cluster.runUntil('the node to be unknown', () => readyOf(cluster, lost) === 'Unknown', 120_000);
  const silentMs = cluster.world.clock.now() - before;
  assert.ok(silentMs >= 40_000 && silentMs <= 62_000, `noticed after ${silentMs} ms`);
  await cluster.runUntil('its pod not to be ready', () => readyPods(cluster).length === 2, 10_000);
  await cluster.runUntil('three pods to be ready elsewhere', () => readyPods(cluster).length === 3, 400_000);
  assert.ok(readyPods(cluster).every(({ spec }) => spec?.nodeName !== lost));
  const evictedMs = cluster.world.clock.now() - before - silentMs;
  assert.ok(
    evictedMs >= 295_000,
    `replaced ${evictedMs} ms after it was noticed, before the tolerations of 300 s ended`,
  );

  cluster.nodes.powerOn(lost);
  silent.delete(lost);
  await cluster.runUntil('the node to have no taint', () => taintsOf(cluster, lost).length === 0, 60_000);
});

/** What node agents do: simulated nodes send no heartbeats of their own. */
function heartbeats(silent: ReadonlySet<string>): Operator {
  const beat: Controller<Node> = {
    name: 'heartbeats',
    for: nodes,
    async reconcile({ name }, { cache, client, signal, world }) {
      if (silent.has(name)) return { requeueAfterMs: 10_000 };
      const at = new Date(world.clock.now()).toISOString();
      const key = { namespace: 'kube-node-lease', name };
      const spec = { holderIdentity: name, renewTime: at.replace('Z', '000Z') };
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key, spec };
      if ((await client.find(leases, key, { signal })) === undefined) await client.create(leases, lease, { signal });
      else await client.patch(leases, key, { type: 'merge', body: { spec } }, { signal });
      if (findCondition(cache.get(nodes, { name })?.status?.conditions, 'Ready')?.status === 'Unknown') {
        const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: `${at.slice(0, 19)}Z` }];
        const body = { status: { conditions } };
        await client.patch(nodes, { name }, { type: 'strategic', body }, { subresource: 'status', signal });
      }
      return { requeueAfterMs: 10_000 };
    },
  };
  return { name: 'heartbeats', customResourceDefinitions: [], controllers: [beat] };
}

function readyPods({ state }: TestCluster): readonly Pod[] {
  return state.list(pods).filter(({ metadata, status }) => {
    return metadata.deletionTimestamp === undefined && findCondition(status?.conditions, 'Ready')?.status === 'True';
  });
}

function nodeOf({ state }: TestCluster, name: string): Node | undefined {
  return state.get(nodes, { name });
}

function readyOf(cluster: TestCluster, name: string): string | undefined {
  return findCondition(nodeOf(cluster, name)?.status?.conditions, 'Ready')?.status;
}

function taintsOf(cluster: TestCluster, name: string) {
  return nodeOf(cluster, name)?.spec?.taints ?? [];
}
