import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;
const inDefault = '/api/v1/namespaces/default';
const asNode = { 'impersonate-user': 'system:node:one', 'impersonate-group': 'system:nodes' };
const merge = { 'content-type': 'application/merge-patch+json' };

const send = (method: string, path: string, body?: unknown, headers = {}) =>
  server.send(method, path, body, { ...asNode, ...headers });

before(async () => {
  server = await startServer();
  for (const name of ['one', 'two']) await server.send('POST', '/api/v1/nodes', { metadata: { name } });
  for (const name of ['used', 'other']) {
    await server.send('POST', `${inDefault}/secrets`, { metadata: { name } });
    await server.send('POST', `${inDefault}/configmaps`, { metadata: { name } });
  }
  for (const [name, nodeName, object] of [
    ['own', 'one', 'used'],
    ['foreign', 'two', 'other'],
  ]) {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: object, key: 'k' } } }];
    const spec = {
      nodeName,
      containers: [{ name: 'c', image: 'i', env }],
      volumes: [{ name: 'v', secret: { secretName: object } }],
    };
    const created = await server.send('POST', `${inDefault}/pods`, { metadata: { name }, spec });
    assert.equal(created.status, 201, created.text);
  }
});

after(() => server.stop());

const refusal = (what: string, reason: string, scope = 'in the namespace "default"') =>
  `${what} is forbidden: User "system:node:one" cannot ${reason.split(': ')[0]} ${scope}: ${reason.split(': ')[1]}`;

test('a node reads the secrets and config maps that its own pods name, and no others', async () => {
  for (const kind of ['secrets', 'configmaps']) {
    assert.equal((await send('GET', `${inDefault}/${kind}/used`)).status, 200);
    const refused = await send('GET', `${inDefault}/${kind}/other`);
    assert.equal(refused.status, 403);
    const problem = `get resource "${kind}" in API group "": no relationship found between node 'one' and this object`;
    assert.equal(refused.json.message, refusal(`${kind} "other"`, problem));
  }
  const all = await send('GET', '/api/v1/secrets');
  const problem = 'list resource "secrets" in API group "": can only read namespaced object of this type';
  assert.equal(all.json.message, refusal('secrets', problem, 'at the cluster scope'));
  const written = await send('POST', `${inDefault}/secrets`, { metadata: { name: 'x' } });
  const not = 'create resource "secrets" in API group "": can only read resources of this type';
  assert.equal(written.json.message, refusal('secrets', not));
});

test('a node sees its own Node and its own pods', async () => {
  assert.equal((await send('GET', '/api/v1/nodes/one')).status, 200);
  const other = await send('GET', '/api/v1/nodes/two');
  assert.match(other.json.message, /: node 'one' cannot read 'two', only its own Node object$/);
  assert.match((await send('GET', '/api/v1/nodes')).json.message, /cannot read all nodes, only its own Node object$/);
  const own = await send('GET', '/api/v1/pods?fieldSelector=spec.nodeName%3Done');
  assert.deepEqual(
    own.json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name),
    ['own'],
  );
  assert.equal((await send('GET', `${inDefault}/pods/own`)).status, 200);
  assert.equal((await send('GET', `${inDefault}/pods/foreign`)).status, 403);
  const all = await send('GET', '/api/v1/pods');
  assert.match(all.json.message, /: can only list\/watch pods with spec\.nodeName field selector$/);
});

test('a node writes the status of its own pods alone, and makes none but mirrors', async () => {
  const status = { status: { message: 'm' } };
  const own = await send('PATCH', `${inDefault}/pods/own/status`, status, merge);
  assert.equal(own.status, 200, own.text);
  const foreign = await send('PATCH', `${inDefault}/pods/foreign/status`, status, merge);
  assert.equal(
    foreign.json.message,
    'pods "foreign" is forbidden: node "one" can only update pod status for pods with spec.nodeName set to itself',
  );
  const deleted = await send('DELETE', `${inDefault}/pods/foreign`, { gracePeriodSeconds: 0 });
  assert.equal(
    deleted.json.message,
    'pods "foreign" is forbidden: node "one" can only delete pods with spec.nodeName set to itself',
  );
  const spec = { nodeName: 'one', containers: [{ name: 'c', image: 'i' }] };
  const made = await send('POST', `${inDefault}/pods`, { metadata: { name: 'new' }, spec });
  assert.equal(
    made.json.message,
    'pods "new" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "one" can only create mirror pods',
  );
});

test('a node changes its own Node, but neither its taints nor labels that others steer pods by', async () => {
  const change = (name: string, body: unknown) => send('PATCH', `/api/v1/nodes/${name}`, body, merge);
  const fine = await change('one', { metadata: { labels: { 'topology.kubernetes.io/zone': 'a', mine: 'x' } } });
  assert.equal(fine.status, 200, fine.text);
  const labels = { 'node-restriction.kubernetes.io/x': '1', 'node-role.kubernetes.io/master': '' };
  const refused = await change('one', { metadata: { labels } });
  assert.equal(
    refused.json.message,
    'nodes "one" is forbidden: node "one" is not allowed to modify labels: node-restriction.kubernetes.io/x, node-role.kubernetes.io/master',
  );
  const tainted = await change('one', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } });
  assert.equal(tainted.json.message, 'nodes "one" is forbidden: node "one" is not allowed to modify taints');
  const foreign = await change('two', { metadata: { annotations: { a: 'b' } } });
  assert.equal(foreign.json.message, 'nodes "two" is forbidden: node "one" is not allowed to modify node "two"');
});

test('a node keeps its own lease, and gets tokens for its own pods alone', async () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
  assert.equal((await send('POST', leases, { metadata: { name: 'one' } })).status, 201);
  const foreign = await send('POST', leases, { metadata: { name: 'two' } });
  assert.equal(
    foreign.json.message,
    'leases.coordination.k8s.io "two" is forbidden: can only access node lease with the same name as the requesting node',
  );
  const token = async (name: string) => {
    const { uid } = (await server.send('GET', `${inDefault}/pods/${name}`)).json.metadata;
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name, uid };
    return await send('POST', `${inDefault}/serviceaccounts/default/token`, { spec: { boundObjectRef } });
  };
  assert.equal((await token('own')).status, 201);
  assert.equal(
    (await token('foreign')).json.message,
    'serviceaccounts "default" is forbidden: node requested token bound to a pod scheduled on a different node',
  );
  const unbound = await send('POST', `${inDefault}/serviceaccounts/default/token`, { spec: {} });
  assert.equal(unbound.json.message, 'serviceaccounts "default" is forbidden: node requested token not bound to a pod');
});

test('a node that has no name, or is in no group of nodes, may do nothing as a node', async () => {
  const unnamed = { 'impersonate-user': 'system:node:', 'impersonate-group': 'system:nodes' };
  const refused = await server.send('GET', `${inDefault}/secrets/used`, undefined, unnamed);
  assert.match(refused.json.message, /: unknown node for user "system:node:"$/);
  const alone = { 'impersonate-user': 'system:node:one' };
  assert.equal((await server.send('GET', `${inDefault}/secrets/used`, undefined, alone)).status, 403);
});
