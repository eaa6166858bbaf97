import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  events,
  isConditionTrue,
  type KubernetesObject,
  type Pod,
  pods,
  replicaSets,
  replicationControllers,
} from '@castellan/machinery';
import type { TestCluster } from '@castellan/testkit';
import { inCluster } from './simulation/in-cluster.js';
import { replicaSet, replicaSetKey } from './simulation/replica-set-checks.js';

const found = ({ state }: TestCluster) => state.get(replicaSets, replicaSetKey);
const podNames = ({ state }: TestCluster) => state.list(pods).map(({ metadata }) => metadata.name ?? '');
const ownerOf = ({ metadata }: Pod) => metadata.ownerReferences?.map(({ name }) => name) ?? [];

async function available(cluster: TestCluster, count: number): Promise<void> {
  const isSo = () =>
    (found(cluster)?.status?.availableReplicas ?? 0) === count && cluster.state.list(pods).length === count;
  await cluster.runUntil(`${count} available pods`, isSo, 60_000);
}

function loosePod(name: string): Pod {
  const spec = { containers: [{ name: 'main', image: 'web:1' }] };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: 'default', name, labels: { app: 'web' } },
    spec,
  } as Pod;
}

function quota(most: string): KubernetesObject {
  const metadata = { namespace: 'default', name: 'limits' };
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard: { pods: most } } } as KubernetesObject;
}

test('RS2: pods that nobody controls are adopted when they come to be selected, and count', async () => {
  await inCluster(async (cluster) => {
    await cluster.apply([loosePod('first'), replicaSet(2)]);
    await available(cluster, 2);
    assert.ok(podNames(cluster).includes('first'));
    assert.deepEqual(cluster.state.list(pods).map(ownerOf), [['web'], ['web']]);
    await cluster.apply([loosePod('third')]);
    await cluster.runUntil('one pod too many to be gone', () => podNames(cluster).length === 2, 60_000);
  });
});

test('RS2: a pod whose labels are changed is let go, lives on, and another takes its place', async () => {
  await inCluster(async (cluster) => {
    await cluster.apply([replicaSet(2)]);
    await available(cluster, 2);
    const [name = ''] = podNames(cluster);
    const key = { namespace: 'default', name };
    await cluster.client.patch(pods, key, { type: 'merge', body: { metadata: { labels: { app: 'apart' } } } });
    await cluster.runUntil('a third pod', () => podNames(cluster).length === 3, 60_000);
    await cluster.runUntil(
      'it to be let go',
      () => ownerOf(cluster.state.get(pods, key) ?? loosePod('')).length === 0,
      60_000,
    );
    assert.equal(cluster.state.get(pods, key)?.metadata.deletionTimestamp, undefined);
  });
});

test('RS8: refused pods are told by an event and a condition, which goes when they are let in', async () => {
  await inCluster(async (cluster) => {
    await cluster.apply([quota('1')]);
    await cluster.apply([replicaSet(2)]);
    const failure = () => found(cluster)?.status?.conditions?.find(({ type }) => type === 'ReplicaFailure');
    await cluster.runUntil('the condition', failure, 60_000);
    assert.match(
      `${failure()?.reason} ${failure()?.message}`,
      /^FailedCreate pods "web-\w*" is forbidden: exceeded quota/,
    );
    await cluster.advance(2_000);
    const reasons = cluster.state.list(events).map(({ reason, message }) => `${reason} ${message}`);
    assert.ok(
      reasons.some((text) => /^SuccessfulCreate Created pod: web-\w{5}$/.test(text)),
      reasons.join('\n'),
    );
    assert.ok(
      reasons.some((text) => /^FailedCreate Error creating: pods "web-/.test(text)),
      reasons.join('\n'),
    );
    await cluster.apply([quota('5')]);
    await available(cluster, 2);
    assert.ok(!isConditionTrue(found(cluster)?.status?.conditions, 'ReplicaFailure'));
  });
});

test('RS7: pods count as available only after minReadySeconds, without anything else happening', async () => {
  await inCluster(async (cluster) => {
    await cluster.apply([replicaSet(2, 30)]);
    await cluster.runUntil('two ready pods', () => found(cluster)?.status?.readyReplicas === 2, 60_000);
    await cluster.advance(20_000);
    assert.equal(found(cluster)?.status?.availableReplicas, undefined);
    await available(cluster, 2);
  });
});

test('RS5: a pod that fails or is deleted is replaced', async () => {
  await inCluster(async (cluster) => {
    await cluster.apply([replicaSet(2)]);
    await available(cluster, 2);
    const [one = '', other = ''] = podNames(cluster);
    await cluster.client.delete(pods, { namespace: 'default', name: one });
    const failed = { type: 'merge', body: { status: { phase: 'Failed' } } } as const;
    await cluster.client.patch(pods, { namespace: 'default', name: other }, failed, { subresource: 'status' });
    const isReplaced = () => found(cluster)?.status?.availableReplicas === 2 && podNames(cluster).length === 3;
    await cluster.runUntil('two new pods', isReplaced, 60_000);
    assert.ok(podNames(cluster).includes(other), 'what failed stays, to be looked at');
  });
});

test('RS10: a ReplicationController keeps its pods as a ReplicaSet does', async () => {
  await inCluster(async (cluster) => {
    const { template, replicas = 0 } = replicaSet(2).spec ?? {};
    const controller = { apiVersion: 'v1', kind: 'ReplicationController', metadata: replicaSetKey };
    await cluster.apply([{ ...controller, spec: { replicas, template } } as KubernetesObject]);
    const status = () => cluster.state.get(replicationControllers, replicaSetKey)?.status;
    await cluster.runUntil('two available pods', () => status()?.availableReplicas === 2, 60_000);
    const made = cluster.state.list(pods).map(({ metadata }) => metadata.ownerReferences?.[0]?.kind);
    assert.deepEqual(made, ['ReplicationController', 'ReplicationController']);
    assert.deepEqual(status(), {
      ...{ replicas: 2, fullyLabeledReplicas: 2, readyReplicas: 2, availableReplicas: 2 },
      observedGeneration: 1,
    });
  });
});

test('RS6: deleted in the foreground it stays until its pods are gone, and makes none; orphaned, the next of its name adopts them', async () => {
  await inCluster(async (cluster) => {
    await cluster.apply([replicaSet(2)]);
    await available(cluster, 2);
    const before = podNames(cluster);
    await cluster.client.delete(replicaSets, replicaSetKey, { propagationPolicy: 'Orphan' });
    await cluster.runUntil('it to be gone', () => found(cluster) === undefined, 60_000);
    await cluster.apply([replicaSet(2)]);
    await available(cluster, 2);
    assert.deepEqual(podNames(cluster), before);
    await cluster.client.delete(replicaSets, replicaSetKey, { propagationPolicy: 'Foreground' });
    const made = () => podNames(cluster).filter((name) => !before.includes(name));
    await cluster.runUntil('all to be gone', () => found(cluster) === undefined, 60_000);
    assert.deepEqual([...podNames(cluster), ...made()], []);
  });
});
