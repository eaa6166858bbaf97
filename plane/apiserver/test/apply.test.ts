import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const applyType = { 'content-type': 'application/apply-patch+yaml' };

function configMap(name: string, data: unknown) {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}

function apply(name: string, data: unknown, manager: string, more = '') {
  return api.send('PATCH', `${configMaps}/${name}?fieldManager=${manager}${more}`, configMap(name, data), applyType);
}

/** Managers with what they own, without times. */
function owners(object: { metadata: { managedFields?: readonly Record<string, unknown>[] } }) {
  return (object.metadata.managedFields ?? []).map(({ manager, operation, fieldsV1, subresource }) =>
    subresource === undefined ? [manager, operation, fieldsV1] : [manager, operation, fieldsV1, subresource],
  );
}

test('who creates an object owns its fields, under the name of the parameter or else of the user agent', async () => {
  const named = await api.send('POST', `${configMaps}?fieldManager=tester`, configMap('named', { k: 'v' }));
  const owned = { 'f:data': { '.': {}, 'f:k': {} } };
  assert.deepEqual(owners(named.json), [['tester', 'Update', owned]]);
  const agent = { 'user-agent': 'tool/v1 (x)' };
  const unnamed = await api.send('POST', configMaps, configMap('unnamed', { k: 'v' }), agent);
  assert.deepEqual(owners(unnamed.json), [['tool', 'Update', owned]]);
});

test('an update takes the fields that it changes, and only those', async () => {
  await api.send('POST', `${configMaps}?fieldManager=one`, configMap('shared', { a: '1', b: '1' }));
  const body = configMap('shared', { a: '1', b: '2' });
  const updated = await api.send('PUT', `${configMaps}/shared?fieldManager=two`, body);
  assert.deepEqual(owners(updated.json), [
    ['one', 'Update', { 'f:data': { '.': {}, 'f:a': {} } }],
    ['two', 'Update', { 'f:data': { 'f:b': {} } }],
  ]);
});

test('an update that changes nothing leaves revision, owners and their times', async () => {
  const created = await apply('idle', { k: '1' }, 'one');
  const updated = await api.send('PUT', `${configMaps}/idle?fieldManager=x`, configMap('idle', { k: '1' }));
  assert.deepEqual(updated.json, created.json);
  const applied = await apply('idle', { k: '1' }, 'one');
  assert.deepEqual(applied.json, created.json);
});

test('an apply creates what is not there and removes what it no longer says', async () => {
  const created = await apply('applied', { a: '1', b: '1' }, 'one');
  assert.equal(created.status, 201);
  assert.deepEqual(owners(created.json), [['one', 'Apply', { 'f:data': { 'f:a': {}, 'f:b': {} } }]]);
  const applied = await apply('applied', { a: '2' }, 'one');
  assert.equal(applied.status, 200);
  assert.deepEqual(applied.json.data, { a: '2' });
});

test('an apply may be YAML', async () => {
  const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  k: "1"\n';
  const created = await api.send('PATCH', `${configMaps}/yaml?fieldManager=one`, body, applyType);
  assert.equal(created.status, 201, created.text);
  assert.deepEqual(created.json.data, { k: '1' });
});

test('an apply that would change the field of another is refused unless forced', async () => {
  await apply('contested', { k: '1' }, 'one');
  const refused = await apply('contested', { k: '2' }, 'two');
  assert.equal(refused.status, 409);
  assert.equal(refused.json.message, 'Apply failed with 1 conflict: conflict with "one": .data.k');
  assert.deepEqual(refused.json.details.causes, [
    { reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.k' },
  ]);
  const forced = await apply('contested', { k: '2' }, 'two', '&force=true');
  assert.deepEqual(owners(forced.json), [['two', 'Apply', { 'f:data': { 'f:k': {} } }]]);
});

test('a dry run of an apply shows what would be, and writes nothing', async () => {
  const shown = await apply('dry', { k: '1' }, 'one', '&dryRun=All');
  assert.equal(shown.status, 201);
  assert.deepEqual(shown.json.data, { k: '1' });
  assert.equal((await api.send('GET', `${configMaps}/dry`)).status, 404);
});

test('an apply must name its manager, its kind and the name of the URL', async () => {
  const cases = [
    [
      '',
      configMap('a', {}),
      422,
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    ],
    ['?fieldManager=m', { metadata: { name: 'a' } }, 400, 'invalid object type: /, Kind='],
    ['?fieldManager=m', configMap('b', {}), 400, 'the name of the object (b) does not match the name on the URL (a)'],
  ] as const;
  for (const [query, body, status, message] of cases) {
    const refused = await api.send('PATCH', `${configMaps}/a${query}`, body, applyType);
    assert.deepEqual([refused.status, refused.json.message], [status, message]);
  }
});

test('the status of an object has owners of its own', async () => {
  const pvs = '/api/v1/namespaces/default/pods';
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const status = { ...pod, spec: undefined, status: { phase: 'Running' } };
  await api.send('PATCH', `${pvs}/p?fieldManager=user`, { ...pod, status: { phase: 'Failed' } }, applyType);
  const applied = await api.send('PATCH', `${pvs}/p/status?fieldManager=node`, status, applyType);
  assert.equal(applied.status, 200, applied.text);
  assert.equal(applied.json.status.phase, 'Running');
  assert.deepEqual(owners(applied.json), [
    ['node', 'Apply', { 'f:status': { 'f:phase': {} } }, 'status'],
    ['user', 'Apply', { 'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:image': {}, 'f:name': {} } } } }],
  ]);
});

test('a Scale is applied to the number of replicas alone, and conflicts with who has it', async () => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments';
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'a' } }, template };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'scaled' }, spec };
  await api.send('PATCH', `${deployments}/scaled?fieldManager=one`, deployment, applyType);
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'scaled' }, spec: { replicas: 3 } };
  const path = `${deployments}/scaled/scale?fieldManager=two`;
  const refused = await api.send('PATCH', path, scale, applyType);
  assert.equal(refused.status, 409);
  assert.equal(refused.json.message, 'Apply failed with 1 conflict: conflict with "one": .spec.replicas');
  const forced = await api.send('PATCH', `${path}&force=true`, scale, applyType);
  assert.deepEqual([forced.status, forced.json.kind, forced.json.spec], [200, 'Scale', { replicas: 3 }]);
  const { json } = await api.send('GET', `${deployments}/scaled`);
  assert.equal(json.spec.replicas, 3);
  assert.deepEqual(json.spec.template.spec.containers[0].name, 'c');
  const odd = await api.send('PATCH', path, { ...scale, kind: 'Deployment' }, applyType);
  assert.equal(odd.json.message, 'invalid object type: autoscaling/v1, Kind=Deployment');
});
