import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Deployment, deployments, events, isConditionTrue, pods, replicaSets } from '@castellan/machinery';
import type { TestCluster } from '@castellan/testkit';
import { deployment, deploymentKey, isRolledOut } from './simulation/deployment-checks.js';
import { inCluster } from './simulation/in-cluster.js';

const found = ({ state }: TestCluster) => state.get(deployments, deploymentKey);
const progressing = (cluster: TestCluster) =>
  found(cluster)?.status?.conditions?.find(({ type }) => type === 'Progressing');
const revision = 'deployment.kubernetes.io/revision';

async function rollOut(cluster: TestCluster, wanted: Deployment): Promise<void> {
  await cluster.apply([wanted]);
  await cluster.runUntil('it to be rolled out', () => isRolledOut(cluster), 300_000);
}

function sets({ state }: TestCluster): readonly string[] {
  return state
    .list(replicaSets)
    .map(({ metadata, spec }) => {
      const image = spec?.template?.spec?.containers[0]?.image;
      const { [revision]: number, [`${revision}-history`]: history } = metadata.annotations ?? {};
      return `${image} ${spec?.replicas} #${number}${history === undefined ? '' : ` was ${history}`}`;
    })
    .toSorted();
}

async function said({ state }: TestCluster): Promise<readonly string[]> {
  return state
    .list(events)
    .filter(({ reason, involvedObject }) => reason === 'ScalingReplicaSet' && involvedObject.name === 'web')
    .map(({ message = '' }) => message.replace(/web-\w+/, 'SET'));
}

test('DP2: during a rolling update there are never too few available pods nor too many', async () => {
  await inCluster(async (cluster) => {
    const limits = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } as const;
    const probe = { httpGet: { path: '/', port: 80 } };
    const container = { name: 'main', image: 'web:2', readinessProbe: probe };
    const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } };
    await rollOut(cluster, deployment(5, 'web:1', { strategy: limits }));
    await cluster.apply([deployment(5, 'web:2', { strategy: limits, template })]);
    const isDone = () => {
      const all = cluster.state.list(pods).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
      const ready = all.filter(({ status }) => isConditionTrue(status?.conditions, 'Ready'));
      if (all.length > 7 || ready.length < 4) throw cluster.failure(`${ready.length} of ${all.length} pods are ready`);
      return isRolledOut(cluster);
    };
    await cluster.runUntil('it to be rolled out', isDone, 300_000);
    assert.deepEqual(sets(cluster), ['web:1 0 #1', 'web:2 5 #2']);
    await cluster.advance(1_000);
    assert.deepEqual((await said(cluster)).slice(0, 3), [
      'Scaled up replica set SET from 0 to 5',
      'Scaled up replica set SET from 0 to 2',
      'Scaled down replica set SET from 5 to 4',
    ]);
  });
});

test('DP2: with Recreate no new pod is there before the last old one is gone', async () => {
  await inCluster(async (cluster) => {
    const strategy = { type: 'Recreate' } as const;
    await rollOut(cluster, deployment(3, 'web:1', { strategy }));
    await cluster.apply([deployment(3, 'web:2', { strategy })]);
    const isDone = () => {
      const images = new Set(cluster.state.list(pods).map(({ spec }) => spec?.containers[0]?.image));
      if (images.size > 1) throw cluster.failure('pods of two templates at once');
      return isRolledOut(cluster);
    };
    await cluster.runUntil('it to be rolled out', isDone, 300_000);
  });
});

test('DP4: an older template that comes back takes its ReplicaSet back, and the history is kept to its limit', async () => {
  await inCluster(async (cluster) => {
    for (const image of ['web:1', 'web:2', 'web:1']) await rollOut(cluster, deployment(1, image));
    assert.deepEqual(sets(cluster), ['web:1 1 #3 was 1', 'web:2 0 #2']);
    assert.equal(found(cluster)?.metadata.annotations?.[revision], '3');
    for (const image of ['web:4', 'web:5']) await rollOut(cluster, deployment(1, image, { revisionHistoryLimit: 2 }));
    await cluster.runUntil('the oldest to be gone', () => sets(cluster).length === 3, 60_000);
    assert.deepEqual(sets(cluster), ['web:1 0 #3 was 1', 'web:4 0 #4', 'web:5 1 #5']);
  });
});

test('DP5: a template whose pods fit nowhere is told after the deadline, and the old pods go on', async () => {
  await inCluster(async (cluster) => {
    await rollOut(cluster, deployment(2, 'web:1', { progressDeadlineSeconds: 60 }));
    const spec = { containers: [{ name: 'main', image: 'web:2' }], nodeSelector: { zone: 'nowhere' } };
    const template = { metadata: { labels: { app: 'web' } }, spec };
    await cluster.apply([deployment(2, 'web:2', { template, progressDeadlineSeconds: 60 })]);
    await cluster.advance(50_000);
    assert.equal(progressing(cluster)?.status, 'True');
    const isTold = () => progressing(cluster)?.reason === 'ProgressDeadlineExceeded';
    await cluster.runUntil('the deadline to be told', isTold, 30_000);
    assert.equal(found(cluster)?.status?.availableReplicas, 2);
    await rollOut(cluster, deployment(2, 'web:1', { progressDeadlineSeconds: 60 }));
    const isDone = () => progressing(cluster)?.reason === 'NewReplicaSetAvailable';
    await cluster.runUntil('it to be told that all is well again', isDone, 60_000);
  });
});

test('DP7: paused, a Deployment is scaled and nothing else; resumed, it rolls out', async () => {
  await inCluster(async (cluster) => {
    await rollOut(cluster, deployment(2, 'web:1'));
    await cluster.apply([deployment(3, 'web:2', { paused: true })]);
    await cluster.runUntil('three pods', () => found(cluster)?.status?.availableReplicas === 3, 60_000);
    assert.deepEqual(sets(cluster), ['web:1 3 #1']);
    assert.equal(progressing(cluster)?.reason, 'DeploymentPaused');
    await rollOut(cluster, deployment(3, 'web:2', { paused: false }));
    assert.deepEqual(sets(cluster), ['web:1 0 #1', 'web:2 3 #2']);
  });
});

test('DP8: a name that another has is counted, and the next one is taken', async () => {
  await inCluster(async (cluster) => {
    await rollOut(cluster, deployment(1, 'web:1'));
    const [first] = cluster.state.list(replicaSets);
    const name = first?.metadata.name ?? '';
    await cluster.client.delete(deployments, deploymentKey, { propagationPolicy: 'Orphan' });
    await cluster.runUntil('it to be gone', () => found(cluster) === undefined, 60_000);
    const labels = { app: 'other' };
    const body = { metadata: { labels: { ...labels, 'pod-template-hash': null } } };
    await cluster.client.patch(replicaSets, { namespace: 'default', name }, { type: 'merge', body });
    await cluster.apply([deployment(1, 'web:1')]);
    const isCounted = () =>
      found(cluster)?.status?.collisionCount === 1 && isConditionTrue(found(cluster)?.status?.conditions, 'Available');
    await cluster.runUntil('another name to be taken', isCounted, 60_000);
    assert.equal(cluster.state.list(replicaSets).length, 2);
  });
});

test('DP9: a ReplicaSet that was orphaned is adopted with its pods by the next Deployment of the same template', async () => {
  await inCluster(async (cluster) => {
    await rollOut(cluster, deployment(2, 'web:1'));
    const before = cluster.state.list(pods).map(({ metadata }) => metadata.uid);
    await cluster.client.delete(deployments, deploymentKey, { propagationPolicy: 'Orphan' });
    await cluster.runUntil('it to be gone', () => found(cluster) === undefined, 60_000);
    await rollOut(cluster, deployment(2, 'web:1'));
    assert.deepEqual(
      cluster.state.list(pods).map(({ metadata }) => metadata.uid),
      before,
    );
    await cluster.client.delete(deployments, deploymentKey);
    await cluster.runUntil('all to be gone', () => cluster.state.list(pods).length === 0, 60_000);
    assert.deepEqual(sets(cluster), []);
  });
});
