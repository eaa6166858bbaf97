import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { size: { type: 'integer', minimum: 1, default: 3 }, version: { type: 'string' } },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

test('creates, reads, lists, replaces and deletes an object', async () => {
  const created = await api.send('POST', configMaps, { metadata: { name: 'a' }, data: { k: 'v' } });
  assert.equal(created.status, 201);
  assert.match(created.json.metadata.uid, /^[0-9a-f-]{36}$/);
  const read = await api.send('GET', `${configMaps}/a`);
  assert.deepEqual(read.json, created.json);
  const listed = await api.send('GET', configMaps);
  assert.equal(listed.json.kind, 'ConfigMapList');
  assert.deepEqual(listed.json.items[0].data, { k: 'v' });
  const replaced = await api.send('PUT', `${configMaps}/a`, { ...read.json, data: { k: 'w' } });
  assert.equal(replaced.status, 200);
  const stale = await api.send('PUT', `${configMaps}/a`, { ...read.json, data: { k: 'x' } });
  assert.equal(stale.status, 409);
  assert.equal(stale.json.reason, 'Conflict');
  assert.equal((await api.send('DELETE', `${configMaps}/a`)).status, 200);
  assert.equal((await api.send('GET', `${configMaps}/a`)).json.message, 'configmaps "a" not found');
});

test('refuses an object in a namespace that is not there', async () => {
  const refused = await api.send('POST', '/api/v1/namespaces/nosuch/configmaps', { metadata: { name: 'a' } });
  assert.equal(refused.status, 404);
  assert.equal(refused.json.message, 'namespaces "nosuch" not found');
});

test('a watch from a list tells every later change', async () => {
  const { json: list } = await api.send('GET', configMaps);
  const watch = api.watch(`${configMaps}?watch=true&resourceVersion=${list.metadata.resourceVersion}`);
  await api.send('POST', configMaps, { metadata: { name: 'w' } });
  const { json: read } = await api.send('GET', `${configMaps}/w`);
  await api.send('PUT', `${configMaps}/w`, { ...read, data: { a: '1' } });
  await api.send('DELETE', `${configMaps}/w`);
  const seen = [await watch.next(), await watch.next(), await watch.next()];
  assert.deepEqual(
    seen.map(({ type }) => type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  );
  const versions = seen.map(({ object }) => Number(object.metadata.resourceVersion));
  assert.deepEqual(
    versions,
    [...versions].sort((left, right) => left - right),
  );
  watch.close();
});

test('serves a custom resource at once after its definition was accepted', async () => {
  const made = await api.send('POST', crds, widgetDefinition);
  assert.equal(made.status, 201);
  const widgets = '/apis/example.com/v1/namespaces/default/widgets';
  const created = await api.send('POST', widgets, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'w' },
    spec: { version: '1' },
  });
  assert.equal(created.status, 201);
  assert.equal(created.json.spec.size, 3);
  assert.equal(created.json.metadata.generation, 1);
  const invalid = await api.send('POST', widgets, {
    apiVersion: 'example.com/v1',
    kind: 'Widget',
    metadata: { name: 'x' },
    spec: { size: 0 },
  });
  assert.equal(invalid.status, 422);
  assert.equal(invalid.json.details.causes[0].field, 'spec.size');
  const discovered = await api.send('GET', '/apis/example.com/v1');
  assert.equal(discovered.json.resources[0].name, 'widgets');
});

test('nobody but an administrator gets past health and version', async () => {
  const { connect } = await import('node:http2');
  const { send } = await import('./server-under-test.js');
  const session = connect(api.url, { ca: api.certificates.caCertificate });
  try {
    const health = await send(session, { method: 'GET', path: '/readyz', headers: {} });
    assert.equal(health.text, 'ok');
    const refused = await send(session, { method: 'GET', path: configMaps, headers: {} });
    assert.equal(refused.status, 403);
    assert.equal(
      refused.json.message,
      'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
    );
  } finally {
    session.close();
  }
});
