import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const root = '/api/v1/namespaces/default';
const merge = { 'content-type': 'application/merge-patch+json' };
const podNamed = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'busybox:1' }] } });

test('a pod that runs nowhere is gone at once when it is deleted', async () => {
  const { json: pod } = await api.send('POST', `${root}/pods`, podNamed('unbound'));
  assert.equal(pod.status.phase, 'Pending');
  assert.equal(pod.spec.terminationGracePeriodSeconds, 30);
  assert.equal((await api.send('DELETE', `${root}/pods/unbound`)).status, 200);
  assert.equal((await api.send('GET', `${root}/pods/unbound`)).status, 404);
});

test('a pod on a node is marked, and gone when the node agent deletes it without grace', async () => {
  await api.send('POST', `${root}/pods`, podNamed('bound'));
  const binding = { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n1' } };
  assert.equal((await api.send('POST', `${root}/pods/bound/binding`, binding)).status, 201);
  const again = await api.send('POST', `${root}/pods/bound/binding`, binding);
  assert.equal(again.status, 409);
  await api.send('DELETE', `${root}/pods/bound`);
  const { json: marked } = await api.send('GET', `${root}/pods/bound`);
  assert.equal(marked.metadata.deletionGracePeriodSeconds, 30);
  assert.equal(marked.spec.nodeName, 'n1');
  const longer = await api.send('DELETE', `${root}/pods/bound`, { gracePeriodSeconds: 90 });
  assert.equal(longer.json.metadata.deletionGracePeriodSeconds, 30);
  await api.send('DELETE', `${root}/pods/bound`, { gracePeriodSeconds: 0 });
  assert.equal((await api.send('GET', `${root}/pods/bound`)).status, 404);
});

test('finalizers hold an object until the last one is taken off', async () => {
  await api.send('POST', `${root}/configmaps`, { metadata: { name: 'held', finalizers: ['example.com/f'] } });
  assert.equal((await api.send('DELETE', `${root}/configmaps/held`)).json.metadata.deletionGracePeriodSeconds, 0);
  const added = await api.send(
    'PATCH',
    `${root}/configmaps/held`,
    { metadata: { finalizers: ['example.com/f', 'example.com/g'] } },
    merge,
  );
  assert.equal(added.status, 422);
  assert.equal(
    (await api.send('PATCH', `${root}/configmaps/held`, { metadata: { finalizers: null } }, merge)).status,
    200,
  );
  assert.equal((await api.send('GET', `${root}/configmaps/held`)).status, 404);
});

test('a delete in the foreground leaves the garbage collector its mark', async () => {
  await api.send('POST', `${root}/configmaps`, { metadata: { name: 'owner' } });
  const reply = await api.send('DELETE', `${root}/configmaps/owner`, { propagationPolicy: 'Foreground' });
  assert.equal(reply.status, 200);
  assert.deepEqual(reply.json.metadata.finalizers, ['foregroundDeletion']);
});

test('a delete with the wrong uid deletes nothing', async () => {
  await api.send('POST', `${root}/configmaps`, { metadata: { name: 'kept' } });
  const refused = await api.send('DELETE', `${root}/configmaps/kept`, { preconditions: { uid: 'another' } });
  assert.equal(refused.status, 409);
  assert.equal((await api.send('GET', `${root}/configmaps/kept`)).status, 200);
});

test('a namespace that is deleted takes nothing new, and is gone when it is finalized', async () => {
  await api.send('POST', '/api/v1/namespaces', { metadata: { name: 'doomed' } });
  const { json: marked } = await api.send('DELETE', '/api/v1/namespaces/doomed');
  assert.equal(marked.status.phase, 'Terminating');
  const refused = await api.send('POST', '/api/v1/namespaces/doomed/configmaps', { metadata: { name: 'late' } });
  assert.equal(refused.status, 403);
  assert.equal(refused.json.details.causes[0].reason, 'NamespaceTerminating');
  const { json: current } = await api.send('GET', '/api/v1/namespaces/doomed');
  const finalized = await api.send('PUT', '/api/v1/namespaces/doomed/finalize', {
    ...current,
    spec: { finalizers: [] },
  });
  assert.equal(finalized.status, 200);
  assert.equal((await api.send('GET', '/api/v1/namespaces/doomed')).status, 404);
});

test('deletecollection deletes what its selector selects and nothing else', async () => {
  for (const [name, app] of [
    ['dc-1', 'x'],
    ['dc-2', 'x'],
    ['dc-3', 'y'],
  ]) {
    await api.send('POST', `${root}/secrets`, { metadata: { name, labels: { app } } });
  }
  await api.send('DELETE', `${root}/secrets?labelSelector=app%3Dx`);
  const { json: left } = await api.send('GET', `${root}/secrets`);
  assert.deepEqual(
    left.items.map((item: { metadata: { name: string } }) => item.metadata.name),
    ['dc-3'],
  );
});

test('a dry run changes nothing', async () => {
  const tried = await api.send('POST', `${root}/configmaps?dryRun=All`, { metadata: { name: 'dry' } });
  assert.equal(tried.status, 201);
  assert.equal((await api.send('GET', `${root}/configmaps/dry`)).status, 404);
  await api.send('POST', `${root}/configmaps`, { metadata: { name: 'wet' } });
  assert.equal((await api.send('DELETE', `${root}/configmaps/wet?dryRun=All`)).status, 200);
  assert.equal((await api.send('GET', `${root}/configmaps/wet`)).status, 200);
});

test('what a pod runs cannot be changed, its image can', async () => {
  await api.send('POST', `${root}/pods`, podNamed('fixed'));
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const image = { spec: { containers: [{ name: 'c', image: 'busybox:2' }] } };
  const changed = await api.send('PATCH', `${root}/pods/fixed`, image, strategic);
  assert.equal(changed.status, 200);
  assert.equal(changed.json.metadata.generation, 2);
  const command = { spec: { containers: [{ name: 'c', command: ['sh'] }] } };
  const refused = await api.send('PATCH', `${root}/pods/fixed`, command, strategic);
  assert.equal(refused.status, 422);
  assert.match(refused.json.message, /pod updates may not change fields other than/);
});

test('a definition goes when its last object has gone', async () => {
  const names = { plural: 'gadgets', kind: 'Gadget' };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  assert.equal((await api.send('POST', crds, definition)).status, 201);
  const gadget = {
    apiVersion: 'example.com/v1',
    kind: 'Gadget',
    metadata: { name: 'g', finalizers: ['example.com/f'] },
  };
  assert.equal((await api.send('POST', '/apis/example.com/v1/gadgets', gadget)).status, 201);
  const watch = api.watch(`${crds}?watch=true&fieldSelector=metadata.name%3Dgadgets.example.com`);
  assert.equal((await watch.next()).type, 'ADDED');
  await api.send('DELETE', `${crds}/gadgets.example.com`);
  assert.equal((await watch.next()).type, 'MODIFIED');
  // The removal of its objects is under way.
  assert.equal((await watch.next()).type, 'MODIFIED');
  const objects = api.watch('/apis/example.com/v1/gadgets?watch=true');
  for (let event = await objects.next(); event.object.metadata.deletionTimestamp === undefined; )
    event = await objects.next();
  objects.close();
  await api.send('PATCH', '/apis/example.com/v1/gadgets/g', { metadata: { finalizers: null } }, merge);
  assert.equal((await watch.next()).type, 'DELETED');
  assert.equal((await api.send('GET', '/apis/example.com/v1/gadgets')).status, 404);
  watch.close();
});
