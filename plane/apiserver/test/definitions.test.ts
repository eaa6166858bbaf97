import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { waitFor } from '@castellan/world';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
before(async () => {
  server = await startServer();
});
after(() => server.stop());

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const anything = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
};

/** A definition of `plural` in a group of the test's own. */
function definition(plural: string, group: string, changes: { names?: object; versions?: readonly object[] } = {}) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: 'Widget', ...changes.names },
      versions: changes.versions ?? [version('v1', { storage: true })],
    },
  };
}

function version(name: string, { storage = false, schema = anything as object } = {}) {
  return { name, served: true, storage, schema: { openAPIV3Schema: schema } };
}

const conditionOf = (crd: { status: { conditions: Record<string, string>[] } }, type: string) =>
  crd.status.conditions.find((condition) => condition.type === type);

/** The definition once its names are decided. */
function decided(name: string) {
  const decide = async () => {
    const reply = await server.send('GET', `${definitions}/${name}`);
    return reply.json.status.conditions === null ? undefined : reply;
  };
  return waitFor(server.world, decide, { what: `the names of ${name}`, deadlineMs: 30_000 });
}

test('CR1 a resource is served as soon as its definition is accepted', async () => {
  const created = await server.send('POST', definitions, definition('widgets', 'soon.example.com'));
  assert.equal(created.status, 201);
  const first = await server.send('POST', '/apis/soon.example.com/v1/namespaces/default/widgets', {
    apiVersion: 'soon.example.com/v1',
    kind: 'Widget',
    metadata: { name: 'a' },
  });
  assert.equal(first.status, 201);
});

test('CR2 of two definitions with one kind the later is not served until the first is gone', async () => {
  const group = 'clash.example.com';
  await server.send('POST', definitions, definition('widgets', group));
  await server.send('POST', definitions, definition('gizmos', group));
  const { json } = await decided(`gizmos.${group}`);
  const accepted = conditionOf(json, 'NamesAccepted');
  assert.deepEqual(
    { ...accepted, lastTransitionTime: '' },
    {
      type: 'NamesAccepted',
      status: 'False',
      lastTransitionTime: '',
      reason: 'ListKindConflict',
      message: '"WidgetList" is already in use',
    },
  );
  assert.deepEqual(
    { ...conditionOf(json, 'Established'), lastTransitionTime: '' },
    {
      type: 'Established',
      status: 'False',
      lastTransitionTime: '',
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    },
  );
  const unserved = await server.send('GET', `/apis/${group}/v1/gizmos`);
  assert.deepEqual([unserved.status, unserved.text], [404, '404 page not found\n']);
  await server.send('DELETE', `${definitions}/widgets.${group}`);
  await waitFor(server.world, async () => (await server.send('GET', `/apis/${group}/v1/gizmos`)).status === 200, {
    what: 'the definition that waited to be served',
    deadlineMs: 30_000,
  });
});

test('a group of Kubernetes asks for approval', async () => {
  const { status, json } = await server.send('POST', definitions, definition('widgets', 'x.k8s.io'));
  assert.equal(status, 422);
  assert.equal(
    json.details.causes[0].message,
    'Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
  );
  const approved = definition('widgets', 'x.k8s.io');
  const metadata = { ...approved.metadata, annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } };
  assert.equal((await server.send('POST', definitions, { ...approved, metadata })).status, 201);
  const { json: crd } = await decided('widgets.x.k8s.io');
  const { status: isApproved, reason: why, message } = conditionOf(crd, 'KubernetesAPIApprovalPolicyConformant') ?? {};
  assert.deepEqual([isApproved, why, message], ['False', 'UnapprovedAnnotation', 'not approved: "unapproved, a test"']);
});

test('the reply to a creation has an empty status; the server decides names in a write of its own', async () => {
  const { json: created } = await server.send('POST', definitions, definition('widgets', 'later.example.com'));
  assert.deepEqual(created.status, {
    conditions: null,
    acceptedNames: { plural: '', kind: '' },
    storedVersions: ['v1'],
  });
  const { json: crd } = await decided('widgets.later.example.com');
  assert.deepEqual(crd.status.acceptedNames, {
    plural: 'widgets',
    kind: 'Widget',
    singular: 'widget',
    listKind: 'WidgetList',
  });
  const own = crd.metadata.managedFields.find((entry: { subresource?: string }) => entry.subresource === 'status');
  assert.deepEqual([own.manager, own.operation], ['kube-apiserver', 'Update']);
  assert.deepEqual(Object.keys(own.fieldsV1['f:status']['f:conditions']).sort(), [
    'k:{"type":"Established"}',
    'k:{"type":"NamesAccepted"}',
  ]);
});

test('CR3 an object that is written again is stored in the storage version of the day', async () => {
  const group = 'moved.example.com';
  await server.send('POST', definitions, definition('widgets', group));
  const path = `/apis/${group}/v1/namespaces/default/widgets`;
  await server.send('POST', path, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } });
  const { json: crd } = await server.send('GET', `${definitions}/widgets.${group}`);
  const versions = [version('v1'), version('v2', { storage: true })];
  const changed = await server.send('PUT', `${definitions}/widgets.${group}`, {
    ...crd,
    spec: { ...crd.spec, versions },
  });
  assert.deepEqual(changed.json.status.storedVersions, ['v1', 'v2']);
  const { json: before } = await server.send('GET', `${path}/a`);
  const { json: rewritten } = await server.send('PUT', `${path}/a`, before);
  assert.equal(rewritten.apiVersion, `${group}/v1`);
  assert.notEqual(rewritten.metadata.resourceVersion, before.metadata.resourceVersion);
  const { json: again } = await server.send('PUT', `${path}/a`, rewritten);
  assert.equal(again.metadata.resourceVersion, rewritten.metadata.resourceVersion);
  const { json: inOther } = await server.send('GET', `/apis/${group}/v2/namespaces/default/widgets/a`);
  assert.equal(inOther.apiVersion, `${group}/v2`);
});

test('objects are held to the rules in CEL of their definition', async () => {
  const group = 'ruled.example.com';
  const spec = {
    type: 'object',
    properties: { a: { type: 'integer' }, name: { type: 'string', pattern: '^(a+)+$' } },
    'x-kubernetes-validations': [{ rule: 'self.a >= oldSelf.a', message: 'a may only grow' }, { rule: 'self.a < 9' }],
  };
  const schema = { type: 'object', properties: { spec } };
  const versions = [version('v1', { storage: true, schema })];
  assert.equal((await server.send('POST', definitions, definition('widgets', group, { versions }))).status, 201);
  const path = `/apis/${group}/v1/namespaces/default/widgets`;
  const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { a: 5 } };
  const refused = await server.send('POST', path, { ...widget, spec: { a: 9, name: `${'a'.repeat(5000)}!` } });
  assert.match(refused.json.message, /spec: Invalid value: failed rule: self\.a < 9/);
  assert.equal((await server.send('POST', path, widget)).status, 201);
  const merge = { 'content-type': 'application/merge-patch+json' };
  const shrunk = await server.send('PATCH', `${path}/a`, { spec: { a: 4 } }, merge);
  assert.equal(shrunk.json.message, `Widget.${group} "a" is invalid: spec: Invalid value: a may only grow`);
});

test('an object without a number of replicas has no scale until one is written', async () => {
  const group = 'scaled.example.com';
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const versions = [{ ...version('v1', { storage: true }), subresources: { status: {}, scale } }];
  await server.send('POST', definitions, definition('widgets', group, { versions }));
  const path = `/apis/${group}/v1/namespaces/default/widgets`;
  await server.send('POST', path, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: {} });
  const { status, json } = await server.send('GET', `${path}/a/scale`);
  assert.equal(status, 500);
  assert.equal(json.message, 'Internal error occurred: the spec replicas field ".spec.replicas" does not exist');
  const merge = { 'content-type': 'application/merge-patch+json' };
  await server.send('PATCH', `${path}/a/scale`, { spec: { replicas: 3 } }, merge);
  assert.equal((await server.send('GET', `${path}/a/scale`)).json.spec.replicas, 3);
});

test('CR6 a rule that came later is a warning for who changes something else, and an error for who changes its value', async () => {
  const group = 'ratchet.example.com';
  const b = { type: 'string' };
  const schemaWith = (field: object) => ({
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' }, b: field } } },
  });
  const versions = [version('v1', { storage: true, schema: schemaWith(b) })];
  await server.send('POST', definitions, definition('widgets', group, { versions }));
  const path = `/apis/${group}/v1/namespaces/default/widgets`;
  const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { a: 'x', b: 'x' } };
  assert.equal((await server.send('POST', path, widget)).status, 201);
  const ruled = { ...b, 'x-kubernetes-validations': [{ rule: 'self == "y"', message: 'b must be y' }], maxLength: 9 };
  const merge = { 'content-type': 'application/merge-patch+json' };
  const later = [version('v1', { storage: true, schema: schemaWith(ruled) })];
  await server.send('PATCH', `${definitions}/widgets.${group}`, { spec: { versions: later } }, merge);
  const elsewhere = await server.send('PATCH', `${path}/a`, { spec: { a: 'y' } }, merge);
  assert.equal(elsewhere.status, 200);
  assert.equal(elsewhere.headers.warning, '299 - "spec.b: Invalid value: \\"x\\": b must be y"');
  assert.equal((await server.send('PATCH', `${path}/a`, { spec: { b: 'z' } }, merge)).status, 422);
});

test('a status holds numbers of replicas where the scale looks for them', async () => {
  const group = 'counted.example.com';
  const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const schema = { type: 'object', properties: { spec: open, status: open } };
  const versions = [{ ...version('v1', { storage: true, schema }), subresources: { status: {}, scale } }];
  await server.send('POST', definitions, definition('widgets', group, { versions }));
  const path = `/apis/${group}/v1/namespaces/default/widgets`;
  const widget = { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' }, spec: { replicas: -1 } };
  assert.equal(
    (await server.send('POST', path, widget)).json.message,
    `Widget.${group} "a" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer`,
  );
  await server.send('POST', path, { ...widget, spec: { replicas: 1 } });
  const merge = { 'content-type': 'application/merge-patch+json' };
  const refused = await server.send('PATCH', `${path}/a/status`, { status: { replicas: 'x' } }, merge);
  assert.equal(
    refused.json.message,
    `Widget.${group} "a" is invalid: .status.replicas: Invalid value: 0: .status.replicas accessor error: x is of the type string, expected int64`,
  );
});

test('what a version says of names, columns, scales and selectable fields is read before it is taken', async () => {
  const group = 'rules.example.com';
  const refusals = async (fields: object, ofGroup = group) => {
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } };
    const versions = [{ ...version('v1', { storage: true, schema }), ...fields }];
    const { status, json } = await server.send('POST', definitions, definition('widgets', ofGroup, { versions }));
    assert.equal(status, 422, json.message);
    return json.details.causes.map((cause: Record<string, string>) => `${cause.field}: ${cause.message}`);
  };
  assert.deepEqual(await refusals({}, 'single'), [
    'spec.group: Invalid value: "single": should be a domain with at least one dot',
  ]);
  assert.deepEqual(await refusals({ deprecationWarning: 'old' }), [
    'spec.versions[0].deprecationWarning: Invalid value: "old": can only be set for deprecated versions',
  ]);
  const scale = { specReplicasPath: 'spec.replicas', statusReplicasPath: '.spec.replicas' };
  assert.deepEqual(await refusals({ subresources: { scale } }), [
    'spec.subresources.scale.specReplicasPath: Invalid value: "spec.replicas": must be a simple json path starting with .',
    'spec.subresources.scale.statusReplicasPath: Invalid value: ".spec.replicas": should be a json path under .status',
  ]);
  assert.deepEqual(await refusals({ additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: 'a' }] }), [
    'spec.additionalPrinterColumns[0].type: Invalid value: "text": must be one of boolean,date,integer,number,string',
    'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
  ]);
  const selectableFields = [
    { jsonPath: '.spec.a' },
    { jsonPath: '.spec.a' },
    { jsonPath: '.spec' },
    { jsonPath: '.x' },
  ];
  assert.deepEqual(await refusals({ selectableFields }), [
    'spec.selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
    'spec.selectableFields[2].jsonPath: Invalid value: ".spec": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
    'spec.selectableFields[3].jsonPath: Invalid value: ".x": is an invalid path: does not refer to a valid field',
  ]);
});

test('CR7 a definition with a rule that may cost too much is refused before it is ever run', async () => {
  const text = { type: 'array', items: { type: 'array', items: { type: 'string' } } };
  const bomb = {
    ...text,
    'x-kubernetes-validations': [{ rule: 'self.all(x, x.all(y, self.all(z, z.all(q, q == y))))' }],
  };
  const versions = [version('v1', { storage: true, schema: { type: 'object', properties: { bomb } } })];
  const { status, json } = await server.send(
    'POST',
    definitions,
    definition('widgets', 'bomb.example.com', { versions }),
  );
  assert.equal(status, 422);
  assert.match(json.message, /estimated rule cost exceeds budget by factor of more than 100x/);
});

test('who uses a deprecated version is warned, in its own words or of the version to use instead', async () => {
  const group = 'old.example.com';
  const versions = [
    { ...version('v1beta1'), deprecated: true },
    { ...version('v1beta2'), deprecated: true, deprecationWarning: 'v1beta2 ends soon' },
    version('v1', { storage: true }),
    version('v1alpha1'),
  ];
  await server.send('POST', definitions, definition('widgets', group, { versions }));
  const warning = async (name: string) =>
    (await server.send('GET', `/apis/${group}/${name}/namespaces/default/widgets`)).headers.warning;
  assert.equal(
    await warning('v1beta1'),
    '299 - "old.example.com/v1beta1 Widget is deprecated; use old.example.com/v1 Widget"',
  );
  assert.equal(await warning('v1beta2'), '299 - "v1beta2 ends soon"');
  assert.equal(await warning('v1'), undefined);
});
