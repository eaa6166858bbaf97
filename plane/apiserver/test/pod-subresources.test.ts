import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
  await api.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } });
});
after(() => api.stop());

const pods = '/api/v1/namespaces/default/pods';
const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const merge = { 'content-type': 'application/merge-patch+json' };
const strategic = { 'content-type': 'application/strategic-merge-patch+json' };

async function runningPod(name: string, app: string): Promise<void> {
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'registry.example/app:1' }] };
  await api.send('POST', pods, { metadata: { name, labels: { app } }, spec });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await api.send('PATCH', `${pods}/${name}/status`, { status: { phase: 'Running', conditions } }, merge);
}

async function budget(name: string, status: Record<string, unknown>): Promise<void> {
  await api.send('POST', budgets, { metadata: { name }, spec: { selector: { matchLabels: { app: name } } } });
  await api.send('PATCH', `${budgets}/${name}/status`, { status }, merge);
}

function evict(name: string, deleteOptions: Record<string, unknown> = {}) {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions };
  return api.send('POST', `${pods}/${name}/eviction`, body);
}

test('an eviction takes one disruption from the budget, and is refused when there is none left', async () => {
  await runningPod('a1', 'one');
  await runningPod('a2', 'one');
  await budget('one', { observedGeneration: 1, disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1 });
  assert.equal((await evict('a1', { dryRun: ['All'] })).status, 201);
  assert.equal((await evict('a1')).status, 201);
  const { json: spent } = await api.send('GET', `${budgets}/one`);
  assert.equal(spent.status.disruptionsAllowed, 0);
  assert.deepEqual(Object.keys(spent.status.disruptedPods), ['a1']);
  const refused = await evict('a2');
  assert.equal(refused.status, 429);
  assert.deepEqual(refused.json.details.causes, [
    { reason: 'DisruptionBudget', message: 'The disruption budget one does not allow evicting pods currently' },
  ]);
});

test('of evictions at the same time no more go through than the budget allows', async () => {
  const names = ['b1', 'b2', 'b3', 'b4'];
  for (const name of names) await runningPod(name, 'many');
  await budget('many', { observedGeneration: 1, disruptionsAllowed: 2, currentHealthy: 4, desiredHealthy: 2 });
  const replies = await Promise.all(names.map((name) => evict(name)));
  assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 201, 429, 429]);
});

test('a budget that no controller has looked at yet tells when to ask again', async () => {
  await runningPod('c1', 'new');
  await api.send('POST', budgets, { metadata: { name: 'new' }, spec: { selector: { matchLabels: { app: 'new' } } } });
  const { status, json } = await evict('c1');
  assert.equal(status, 429);
  assert.equal(json.details.retryAfterSeconds, 10);
});

test('an evicted pod says that it is a target of disruption, and has the grace that was asked for', async () => {
  await runningPod('d1', 'free');
  assert.equal((await evict('d1', { gracePeriodSeconds: 7 })).status, 201);
  const { json } = await api.send('GET', `${pods}/d1`);
  assert.equal(json.metadata.deletionGracePeriodSeconds, 7);
  assert.equal(json.status.conditions.at(-1).reason, 'EvictionByEvictionAPI');
});

test('containers are put into a running pod by their subresource alone, and then stay', async () => {
  await runningPod('e1', 'debugged');
  const path = `${pods}/e1/ephemeralcontainers`;
  const add = { spec: { ephemeralContainers: [{ name: 'dbg', image: 'd', targetContainerName: 'c' }] } };
  const added = await api.send('PATCH', path, add, strategic);
  assert.equal(added.status, 200);
  assert.equal(added.json.metadata.generation, 2);
  const removed = await api.send('PATCH', path, { spec: { ephemeralContainers: null } }, merge);
  assert.equal(
    removed.json.message,
    'Pod "e1" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "dbg" may not be removed\n',
  );
});

test('a resize changes resources, and neither image nor quality of service', async () => {
  const resources = { requests: { cpu: '100m', memory: '64Mi' }, limits: { cpu: '200m', memory: '128Mi' } };
  const spec = { containers: [{ name: 'c', image: 'registry.example/app:1', resources }] };
  await api.send('POST', pods, { metadata: { name: 'f1' }, spec });
  const resize = (requests: unknown) =>
    api.send(
      'PATCH',
      `${pods}/f1/resize`,
      { spec: { containers: [{ name: 'c', image: 'z', resources: { requests } }] } },
      strategic,
    );
  const { json } = await resize({ cpu: '150m' });
  assert.equal(json.spec.containers[0].image, 'registry.example/app:1');
  assert.deepEqual(json.spec.containers[0].resources.requests, { cpu: '150m', memory: '64Mi' });
  assert.equal(
    (await resize({ cpu: '200m', memory: '128Mi' })).json.message,
    'Pod "f1" is invalid: spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
  );
});
