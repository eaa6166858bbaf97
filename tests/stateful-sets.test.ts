import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  controllerRevisions,
  events,
  type Pod,
  persistentVolumeClaims,
  pods,
  type StatefulSet,
  statefulSets,
} from '@castellan/machinery';
import type { TestCluster } from '@castellan/testkit';
import { inCluster } from './simulation/in-cluster.js';
import { isDone, setKey, statefulSet, type WantedSet } from './simulation/stateful-set-checks.js';

const podKey = (name: string) => ({ namespace: 'default', name });
const podNames = ({ state }: TestCluster) => state.list(pods).map(({ metadata }) => metadata.name ?? '');
const claimNames = ({ state }: TestCluster) => state.list(persistentVolumeClaims).map(({ metadata }) => metadata.name);
const imageOf = (pod: Pod | undefined) => pod?.spec?.containers[0]?.image;
const found = ({ state }: TestCluster) => state.get(statefulSets, setKey);

async function becomes(cluster: TestCluster, wanted: WantedSet, set: StatefulSet = statefulSet(wanted)): Promise<void> {
  await cluster.apply([set]);
  await cluster.runUntil(`${wanted.replicas} pods`, () => isDone(cluster, wanted), 120_000);
}

function said(cluster: TestCluster): readonly string[] {
  return cluster.state
    .list(events)
    .filter(({ involvedObject }) => involvedObject.kind === 'StatefulSet')
    .map(({ type, reason, message }) => `${type} ${reason} ${message}`);
}

test('ST2, ST11: pods and claims of an ordered set are made one after the other, and told of in kube-controller-manager’s words', async () => {
  await inCluster(async (cluster) => {
    await becomes(cluster, { replicas: 2 });
    const [first, second] = cluster.state.list(pods);
    const readyAt = first?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? '';
    assert.ok(readyAt !== '' && (second?.metadata.creationTimestamp ?? '') >= readyAt);
    await cluster.advance(2_000);
    assert.deepEqual([...said(cluster)].sort(), [
      'Normal SuccessfulCreate create Claim data-web-0 Pod web-0 in StatefulSet web success',
      'Normal SuccessfulCreate create Claim data-web-1 Pod web-1 in StatefulSet web success',
      'Normal SuccessfulCreate create Pod web-0 in StatefulSet web successful',
      'Normal SuccessfulCreate create Pod web-1 in StatefulSet web successful',
    ]);
    const [event] = cluster.state.list(events).filter(({ involvedObject }) => involvedObject.kind === 'StatefulSet');
    assert.equal(event?.reportingComponent, 'statefulset-controller');
  });
});

test('ST2, ST7: a smaller set ends its highest pods and keeps their claims, which they find again', async () => {
  await inCluster(async (cluster) => {
    await becomes(cluster, { replicas: 3 });
    const claimOf2 = cluster.state.get(persistentVolumeClaims, podKey('data-web-2'))?.metadata.uid;
    await becomes(cluster, { replicas: 1 });
    assert.deepEqual(podNames(cluster), ['web-0']);
    assert.deepEqual(claimNames(cluster), ['data-web-0', 'data-web-1', 'data-web-2']);
    await becomes(cluster, { replicas: 3 });
    assert.equal(cluster.state.get(persistentVolumeClaims, podKey('data-web-2'))?.metadata.uid, claimOf2);
  });
});

test('ST4, ST5, ST10: a partition holds pods back, a pod before it comes back as it was, and the update ends when it is lifted', async () => {
  await inCluster(async (cluster) => {
    await becomes(cluster, { replicas: 3 });
    await cluster.apply([statefulSet({ replicas: 3, image: 'two', partition: 2 })]);
    const images = () => cluster.state.list(pods).map(imageOf);
    await cluster.runUntil(
      'the last pod to be updated',
      () => images().join() === 'one,one,two' && found(cluster)?.status?.readyReplicas === 3,
      60_000,
    );
    const { uid } = cluster.state.get(pods, podKey('web-0'))?.metadata ?? {};
    await cluster.client.delete(pods, podKey('web-0'));
    await cluster.runUntil(
      'pod web-0 to be made anew',
      () => ![undefined, uid].includes(cluster.state.get(pods, podKey('web-0'))?.metadata.uid),
      60_000,
    );
    assert.equal(imageOf(cluster.state.get(pods, podKey('web-0'))), 'one');
    const { currentRevision, updateRevision } = found(cluster)?.status ?? {};
    assert.notEqual(currentRevision, updateRevision);
    await becomes(cluster, { replicas: 3, image: 'two' });
    assert.equal(found(cluster)?.status?.currentRevision, updateRevision);
  });
});

test('ST6: a template that was put right does not free an ordered set from its broken pod; that the pod is deleted does', async () => {
  await inCluster(async (cluster) => {
    await becomes(cluster, { replicas: 2 });
    const unschedulable = statefulSet({ replicas: 2, image: 'broken' });
    const { template } = unschedulable.spec ?? {};
    const spec = { ...template?.spec, containers: template?.spec?.containers ?? [], nodeSelector: { disk: 'none' } };
    await cluster.apply([
      { ...unschedulable, spec: { ...unschedulable.spec, template: { ...template, spec } } } as StatefulSet,
    ]);
    await cluster.runUntil(
      'the broken pod',
      () => imageOf(cluster.state.get(pods, podKey('web-1'))) === 'broken',
      60_000,
    );
    await cluster.apply([statefulSet({ replicas: 2 })]);
    await cluster.advance(120_000);
    assert.equal(imageOf(cluster.state.get(pods, podKey('web-1'))), 'broken');
    await cluster.client.delete(pods, podKey('web-1'));
    await cluster.runUntil('all to be well', () => isDone(cluster, { replicas: 2 }), 60_000);
  });
});

test('ST7: claims go with the set, or with the pods that are too many, when the policy says so', async () => {
  await inCluster(async (cluster) => {
    const retention = { whenDeleted: 'Delete', whenScaled: 'Delete' };
    await becomes(cluster, { replicas: 3 });
    await becomes(cluster, { replicas: 1 }, statefulSet({ replicas: 1, retention }));
    await cluster.runUntil('the claims of two pods to go', () => claimNames(cluster).join() === 'data-web-0', 60_000);
    await cluster.client.delete(statefulSets, setKey);
    await cluster.runUntil('the last claim to go', () => claimNames(cluster).length === 0, 60_000);
  });
});

test('ST8, ST9: a pod that lost its label gets it back, one that is selected no more is let go, and its successor waits for its name', async () => {
  await inCluster(async (cluster) => {
    await becomes(cluster, { replicas: 2 });
    const label = 'statefulset.kubernetes.io/pod-name';
    const relabel = (name: string, labels: Readonly<Record<string, string | null>>) =>
      cluster.client.patch(pods, podKey(name), { type: 'merge', body: { metadata: { labels } } });
    await relabel('web-0', { [label]: null });
    await cluster.runUntil(
      'the label to be back',
      () => cluster.state.get(pods, podKey('web-0'))?.metadata.labels?.[label] === 'web-0',
      60_000,
    );
    const { uid } = cluster.state.get(pods, podKey('web-1'))?.metadata ?? {};
    await relabel('web-1', { app: 'apart' });
    const owners = () => cluster.state.get(pods, podKey('web-1'))?.metadata.ownerReferences ?? [];
    await cluster.runUntil('it to be let go', () => owners().length === 0, 60_000);
    await relabel('web-1', { app: 'web' });
    await cluster.runUntil('it to be taken back', () => isDone(cluster, { replicas: 2 }), 120_000);
    assert.equal(cluster.state.get(pods, podKey('web-1'))?.metadata.uid, uid);
  });
});

test('ST11: a claim that is refused is told by events, and made when it is let in', async () => {
  await inCluster(async (cluster) => {
    const metadata = { namespace: 'default', name: 'limits' };
    const quota = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata,
      spec: { hard: { persistentvolumeclaims: '0' } },
    };
    await cluster.apply([quota]);
    await cluster.apply([statefulSet({ replicas: 1 })]);
    await cluster.runUntil('two events', () => said(cluster).length >= 2, 60_000);
    const [claim = '', pod = ''] = [...said(cluster)].sort();
    assert.match(
      claim,
      /^Warning FailedCreate create Claim data-web-0 for Pod web-0 in StatefulSet web failed error: /,
    );
    assert.match(
      pod,
      /^Warning FailedCreate create Pod web-0 in StatefulSet web failed error: failed to create PVC data-web-0: persistentvolumeclaims "data-web-0" is forbidden: exceeded quota/,
    );
    await cluster.client.delete(
      { group: '', version: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', isNamespaced: true },
      metadata,
    );
    await cluster.runUntil('the pod', () => isDone(cluster, { replicas: 1 }), 20 * 60_000);
  });
});

test('ST11: orphaned, its pods and revisions live on, and the next set of its name takes them over', async () => {
  await inCluster(async (cluster) => {
    await becomes(cluster, { replicas: 2 });
    const ids = () => cluster.state.list(pods).map(({ metadata }) => metadata.uid);
    const before = ids();
    await cluster.client.delete(statefulSets, setKey, { propagationPolicy: 'Orphan' });
    await cluster.runUntil('the set to be gone', () => found(cluster) === undefined, 60_000);
    await becomes(cluster, { replicas: 2 });
    assert.deepEqual(ids(), before);
    assert.equal(cluster.state.list(controllerRevisions).length, 1);
    await cluster.client.delete(statefulSets, setKey, { propagationPolicy: 'Foreground' });
    await cluster.runUntil('all to be gone', () => found(cluster) === undefined, 60_000);
    assert.deepEqual([podNames(cluster), cluster.state.list(controllerRevisions)], [[], []]);
  });
});
