import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

test('a built-in kind’s document has the schema of every type in it, and refers to nothing that is not there', async () => {
  for (const path of ['api/v1', 'apis/apps/v1', 'apis/batch/v1', 'apis/apiextensions.k8s.io/v1']) {
    const { status, text, json } = await api.send('GET', `/openapi/v3/${path}`);
    assert.equal(status, 200);
    const names = new Set(Object.keys(json.components.schemas));
    for (const [reference, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert.ok(names.has(name ?? ''), `${path}: ${reference} is not there`);
    }
  }
});

test('schemas say what is required, what lists are keyed by, and what stands in place', async () => {
  const { json } = await api.send('GET', '/openapi/v3/apis/apps/v1');
  const { schemas } = json.components;
  assert.deepEqual(schemas['io.k8s.api.apps.v1.DeploymentSpec'].required, ['selector', 'template']);
  const container = schemas['io.k8s.api.core.v1.Container'];
  const { description, ...ports } = container.properties.ports;
  assert.match(description, /^List of ports to expose from the container\./);
  assert.deepEqual(ports, {
    type: 'array',
    items: { $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
    'x-kubernetes-patch-strategy': 'merge',
    'x-kubernetes-patch-merge-key': 'containerPort',
  });
  assert.ok('httpGet' in schemas['io.k8s.api.core.v1.Probe'].properties);
  assert.deepEqual(schemas['io.k8s.api.apps.v1.Deployment']['x-kubernetes-group-version-kind'], [
    { group: 'apps', kind: 'Deployment', version: 'v1' },
  ]);
});

test('each operation says what it does, and what all of a path have stands with the path', async () => {
  const { json } = await api.send('GET', '/openapi/v3/apis/apps/v1');
  const path = json.paths['/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale'];
  assert.deepEqual(Object.keys(path).sort(), ['get', 'parameters', 'patch', 'put']);
  assert.deepEqual(
    path.parameters.map(({ name }: { name: string }) => name),
    ['name', 'namespace', 'pretty'],
  );
  assert.equal(path.put.operationId, 'replaceAppsV1NamespacedDeploymentScale');
  assert.deepEqual(path.put['x-kubernetes-group-version-kind'], {
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
  });
  assert.deepEqual(
    path.patch.parameters.map(({ name }: { name: string }) => name),
    ['dryRun', 'fieldManager', 'fieldValidation', 'force'],
  );
  const core = await api.send('GET', '/openapi/v3/api/v1');
  const events = core.json.paths['/api/v1/namespaces/{namespace}/events'];
  assert.equal(events.post.description, 'create an Event');
  assert.ok('/api/v1/watch/namespaces/{namespace}/pods/{name}' in core.json.paths);
});

test('version 2 holds all groups, custom ones too, and is fetched again only when they have changed', async () => {
  const before = await api.send('GET', '/openapi/v2');
  const etag = before.headers.etag ?? '';
  assert.equal((await api.send('GET', '/openapi/v2', undefined, { 'if-none-match': etag })).status, 304);
  const names = { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' };
  const properties = { port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] } };
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }];
  await api.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'gadgets.example.com' },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions },
  });
  const after = await api.send('GET', '/openapi/v2', undefined, { 'if-none-match': etag });
  assert.equal(after.status, 200);
  assert.notEqual(after.headers.etag, etag);
  const { definitions, paths } = after.json;
  assert.deepEqual(definitions['com.example.v1.Gadget'].properties.spec.properties.port, {
    'x-kubernetes-int-or-string': true,
  });
  assert.equal(
    paths['/apis/example.com/v1/namespaces/{namespace}/gadgets'].post.operationId,
    'createExampleComV1NamespacedGadget',
  );
  assert.deepEqual(definitions['io.k8s.apimachinery.pkg.util.intstr.IntOrString'].type, 'string');
  for (const [reference, name] of after.text.matchAll(/"#\/definitions\/([^"]+)"/g)) {
    assert.ok((name ?? '') in definitions, `${reference} is not there`);
  }
});

test('documents of paths that belong to no group are there, and one that is not answers with nothing', async () => {
  assert.deepEqual(Object.keys((await api.send('GET', '/openapi/v3/version')).json.paths), ['/version/']);
  assert.deepEqual(Object.keys((await api.send('GET', '/openapi/v3/apis/batch')).json.paths), ['/apis/batch/']);
  const absent = await api.send('GET', '/openapi/v3/apis/nosuch/v1');
  assert.deepEqual([absent.status, absent.text, absent.headers['content-type']], [404, '', undefined]);
});
