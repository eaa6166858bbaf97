import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const metadata = { name: 'a' };
const core = '/api/v1/namespaces/default';
const rbac = '/apis/rbac.authorization.k8s.io/v1';

test('taints of a node are labels with an effect, each once, and are told of in its metadata', async () => {
  const taints = [
    { key: 'a', effect: 'NoSchedule' },
    { key: 'a', value: 'v', effect: 'NoSchedule' },
    { key: 'b', effect: 'X' },
    { key: 'c' },
  ];
  assert.deepEqual(await refusalOf(api, '/api/v1/nodes', { metadata, spec: { taints } }), [
    'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"v","Effect":"NoSchedule","TimeAdded":null}: taints must be unique by key and effect pair',
    'metadata.taints[2].effect: Unsupported value: "X": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    'metadata.taints[3].effect: Required value',
  ]);
});

test('a node has ranges of pods of each family at most once, and amounts that are not below nothing', async () => {
  const spec = { podCIDRs: ['10.0.0.0/24', '10.0.1.0/24'] };
  assert.deepEqual(await refusalOf(api, '/api/v1/nodes', { metadata, spec, status: { capacity: { cpu: '-1' } } }), [
    'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.1.0/24"]: may specify no more than one CIDR for each IP family',
  ]);
});

test('a namespace keeps the finalizers that it is made with, and gets that of Kubernetes', async () => {
  const made = await api.send('POST', '/api/v1/namespaces', {
    metadata: { name: 'held' },
    spec: { finalizers: ['example.com/f'] },
  });
  assert.deepEqual(made.json.spec.finalizers, ['example.com/f', 'kubernetes']);
  const odd = { metadata: { name: 'odd' }, spec: { finalizers: ['foo'] } };
  assert.deepEqual(await refusalOf(api, '/api/v1/namespaces', odd), [
    'spec.finalizers[0]: Invalid value: "foo": name is neither a standard finalizer name nor is it fully qualified',
  ]);
});

test('the scopes of a quota fit what it limits and do not exclude each other', async () => {
  const refused = (spec: object) => refusalOf(api, `${core}/resourcequotas`, { metadata, spec });
  assert.deepEqual(await refused({ hard: { memory: '1Gi', 'count/pods': '1.5' }, scopes: ['BestEffort'] }), [
    'spec.hard[count/pods]: Invalid value: "1500m": must be an integer',
    'spec.scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ]);
  assert.deepEqual(await refused({ hard: { pods: '1' }, scopes: ['Terminating', 'NotTerminating'] }), [
    'spec.scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes',
  ]);
  const matchExpressions = [
    { scopeName: 'PriorityClass', operator: 'In' },
    { scopeName: 'X', operator: 'Exists', values: ['a'] },
  ];
  assert.deepEqual(await refused({ hard: { pods: '1' }, scopeSelector: { matchExpressions } }), [
    "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
    'spec.scopeSelector.matchExpressions.scopeName: Invalid value: "X": unsupported scope',
    "spec.scopeSelector.matchExpressions.values: Invalid value: [\"a\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
  ]);
});

test('the scopes of a quota do not change', async () => {
  const path = `${core}/resourcequotas`;
  const quota = { metadata: { name: 'fixed' }, spec: { hard: { pods: '1' }, scopes: ['Terminating'] } };
  assert.equal((await api.send('POST', path, quota)).status, 201);
  const type = { 'content-type': 'application/merge-patch+json' };
  const refused = await api.send('PATCH', `${path}/fixed`, { spec: { scopes: ['NotTerminating'] } }, type);
  assert.equal(
    refused.json.message,
    'ResourceQuota "fixed" is invalid: spec.scopes: Invalid value: ["NotTerminating"]: field is immutable',
  );
});

test('a LimitRange limits what it knows, and a ratio that its limits allow', async () => {
  const limits = [
    { type: 'X', max: { foo: '1' } },
    { type: 'Container', max: { cpu: '4' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '10' } },
  ];
  assert.deepEqual(await refusalOf(api, `${core}/limitranges`, { metadata, spec: { limits } }), [
    'spec.limits[0].type: Invalid value: "X": must be a standard limit type or fully qualified',
    'spec.limits[0].max[foo]: Invalid value: "foo": must be a standard resource type or fully qualified',
    'spec.limits[1].maxLimitRequestRatio[cpu]: Invalid value: "10": ratio 10 is greater than max/min = 4.000000',
  ]);
});

test('ConfigMaps and secrets hold a mebibyte at most', async () => {
  const size = 1024 * 1024 + 1;
  assert.deepEqual(await refusalOf(api, `${core}/configmaps`, { metadata, data: { a: 'x'.repeat(size) } }), [
    'undefined: Too long: may not be more than 1048576 bytes',
  ]);
  const data = { a: Buffer.alloc(size).toString('base64') };
  assert.deepEqual(await refusalOf(api, `${core}/secrets`, { metadata, data }), [
    'data: Too long: may not be more than 1048576 bytes',
  ]);
});

test('what logs in to a registry is JSON, and is not shown where it is none', async () => {
  const secret = { metadata, type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': 'x' } };
  assert.deepEqual(await refusalOf(api, `${core}/secrets`, secret), [
    `data[.dockerconfigjson]: Invalid value: "<secret contents redacted>": invalid character 'x' looking for beginning of value`,
  ]);
});

test('an account that is bound for the whole cluster says where it is', async () => {
  const roleRef = { kind: 'ClusterRole', name: 'view', apiGroup: 'rbac.authorization.k8s.io' };
  const subjects = [{ kind: 'ServiceAccount', name: 's' }];
  assert.deepEqual(await refusalOf(api, `${rbac}/clusterrolebindings`, { metadata, roleRef, subjects }), [
    'subjects[0].namespace: Required value',
  ]);
});

test('a role that is the sum of others says of which', async () => {
  const empty = { metadata, aggregationRule: { clusterRoleSelectors: [] } };
  assert.deepEqual(await refusalOf(api, `${rbac}/clusterroles`, empty), [
    'aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil',
  ]);
});

test('a range of addresses of services begins at its own beginning', async () => {
  const spec = { cidrs: ['10.0.0.1/24'] };
  assert.deepEqual(await refusalOf(api, '/apis/networking.k8s.io/v1/servicecidrs', { metadata, spec }), [
    'spec.cidrs[0]: Invalid value: "10.0.0.1/24": must not have bits set beyond the prefix length',
  ]);
});
