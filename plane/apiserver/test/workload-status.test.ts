import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const merge = { 'content-type': 'application/merge-patch+json' };
const template = {
  metadata: { labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'registry.example/app:1' }] },
};
const deployments = '/apis/apps/v1/namespaces/default/deployments';

test('a change of an annotation of a Deployment is a new generation, a change of a label is not', async () => {
  const spec = { selector: { matchLabels: { app: 'a' } }, template };
  await api.send('POST', deployments, { metadata: { name: 'counted' }, spec });
  const patch = (metadata: unknown) => api.send('PATCH', `${deployments}/counted`, { metadata }, merge);
  assert.equal((await patch({ labels: { a: 'b' } })).json.metadata.generation, 1);
  assert.equal((await patch({ annotations: { a: 'b' } })).json.metadata.generation, 2);
});

test('a status write changes neither spec nor labels of a Deployment, and conditions show their unset times', async () => {
  const spec = { selector: { matchLabels: { app: 'a' } }, template };
  await api.send('POST', deployments, { metadata: { name: 'reported' }, spec });
  const conditions = [{ type: 'Available', status: 'True' }];
  const body = { metadata: { labels: { x: 'y' } }, spec: { replicas: 7 }, status: { replicas: 1, conditions } };
  const { json } = await api.send('PATCH', `${deployments}/reported/status`, body, merge);
  assert.equal(json.metadata.labels, undefined);
  assert.equal(json.spec.replicas, 1);
  const unset = { lastTransitionTime: null, lastUpdateTime: null };
  assert.deepEqual(json.status, { replicas: 1, conditions: [{ type: 'Available', status: 'True', ...unset }] });
});

test('a status that counts more ready pods than pods is refused', async () => {
  const spec = { selector: { matchLabels: { app: 'a' } }, template };
  await api.send('POST', deployments, { metadata: { name: 'odd' }, spec });
  const refused = await api.send('PATCH', `${deployments}/odd/status`, { status: { readyReplicas: 5 } }, merge);
  assert.equal(
    refused.json.message,
    'Deployment.apps "odd" is invalid: status.readyReplicas: Invalid value: 5: cannot be greater than status.replicas',
  );
});

test('a disruption budget says either how many pods stay or how many may go', async () => {
  const spec = { minAvailable: 1, maxUnavailable: 1 };
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const refused = await api.send('POST', budgets, { metadata: { name: 'a' }, spec });
  assert.equal(
    refused.json.message,
    'PodDisruptionBudget.policy "a" is invalid: spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":1,"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set',
  );
});

test('a container that has ended for good does not run again', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const spec = { ...template.spec, restartPolicy: 'Never' };
  await api.send('POST', pods, { metadata: { name: 'ended' }, spec });
  const report = (state: unknown) =>
    api.send('PATCH', `${pods}/ended/status`, { status: { containerStatuses: [{ name: 'c', state }] } }, merge);
  assert.equal((await report({ terminated: { exitCode: 0 } })).status, 200);
  assert.equal(
    (await report({ running: {} })).json.message,
    'Pod "ended" is invalid: status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
  );
});
