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
  assert.deepEqual(container.properties.ports, {
    type: 'array',
    items: { allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.ContainerPort' }] },
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
