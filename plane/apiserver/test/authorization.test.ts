import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, send, startServer, type TestReply } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const asBob = { 'impersonate-user': 'bob' };

/** A request of a client without a certificate. */
async function sendWith(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<TestReply> {
  const session = connect(server.url, { ca: server.certificates.caCertificate });
  try {
    return await send(session, { method, path, headers });
  } finally {
    session.destroy();
  }
}

async function grant(name: string, rules: unknown, user: string): Promise<void> {
  const role = await server.send('POST', `${rbac}/roles`, { metadata: { name }, rules });
  assert.equal(role.status, 201, role.text);
  const binding = await server.send('POST', `${rbac}/rolebindings`, {
    metadata: { name },
    roleRef: { kind: 'Role', name },
    subjects: [{ kind: 'User', name: user }],
  });
  assert.equal(binding.status, 201, binding.text);
}

test('who is not known reads health and version, and nothing else', async () => {
  assert.equal((await sendWith('GET', '/healthz', {})).status, 200);
  assert.equal((await sendWith('GET', '/version', {})).status, 200);
  const refused = await sendWith('GET', '/api/v1/pods', {});
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json.message,
    'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope',
  );
});

test('a role gives its verbs on its resources in its namespace, from the reply to the binding on', async () => {
  const before = await server.send('GET', '/api/v1/namespaces/default/configmaps', undefined, asBob);
  assert.equal(before.status, 403);
  await grant('reader', [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }], 'bob');
  const after = await server.send('GET', '/api/v1/namespaces/default/configmaps', undefined, asBob);
  assert.equal(after.status, 200);
  assert.equal((await server.send('GET', '/api/v1/configmaps', undefined, asBob)).status, 403);
  assert.equal((await server.send('GET', '/api/v1/namespaces/default/secrets', undefined, asBob)).status, 403);
  const write = await server.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'x' } }, asBob);
  assert.equal(write.status, 403);
});

test('a right to one name is none to the others, nor to the list', async () => {
  const rule = { apiGroups: [''], resources: ['secrets'], resourceNames: ['one'], verbs: ['get', 'list'] };
  await grant('one-secret', [rule], 'eve');
  const secrets = '/api/v1/namespaces/default/secrets';
  const asEve = { 'impersonate-user': 'eve' };
  assert.equal((await server.send('GET', `${secrets}/one`, undefined, asEve)).status, 404);
  assert.equal((await server.send('GET', `${secrets}/two`, undefined, asEve)).status, 403);
  assert.equal((await server.send('GET', secrets, undefined, asEve)).status, 403);
  const byName = await server.send('GET', `${secrets}?fieldSelector=metadata.name%3Done`, undefined, asEve);
  assert.equal(byName.status, 200);
});

test('nobody gives rights that they do not hold', async () => {
  const rules = [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] }];
  await grant('role-writer', rules, 'mallory');
  const asMallory = { 'impersonate-user': 'mallory' };
  const wider = [{ apiGroups: [''], resources: ['secrets', 'pods'], verbs: ['get', 'delete'] }];
  const refused = await server.send('POST', `${rbac}/roles`, { metadata: { name: 'w' }, rules: wider }, asMallory);
  assert.equal(refused.status, 403);
  assert.equal(
    refused.json.message,
    'roles.rbac.authorization.k8s.io "w" is forbidden: user "mallory" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
  );
  const equal = await server.send('POST', `${rbac}/roles`, { metadata: { name: 'e' }, rules }, asMallory);
  assert.equal(equal.status, 201, equal.text);
});

test('only who may impersonate is somebody else', async () => {
  const refused = await sendWith('GET', '/api/v1/pods', { 'impersonate-user': 'bob' });
  assert.equal(refused.status, 403);
  const review = await server.send(
    'POST',
    '/apis/authentication.k8s.io/v1/selfsubjectreviews',
    {},
    {
      'impersonate-user': 'bob',
      'impersonate-group': 'developers',
      'impersonate-uid': 'u1',
      'impersonate-extra-team': 'x',
    },
  );
  assert.deepEqual(review.json.status.userInfo, {
    username: 'bob',
    uid: 'u1',
    groups: ['developers', 'system:authenticated'],
    extra: { team: ['x'] },
  });
  const nameless = await server.send('GET', '/api/v1/pods', undefined, { 'impersonate-group': 'x' });
  assert.equal(nameless.status, 400);
});

test('a legacy right to impersonate holds for the names that it gives and no others', async () => {
  const name = 'impersonator';
  const rules = [{ apiGroups: [''], resources: ['users'], resourceNames: ['bob'], verbs: ['impersonate'] }];
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  await server.send('POST', `${roles}/clusterroles`, { metadata: { name }, rules });
  const bound = { metadata: { name }, roleRef: { kind: 'ClusterRole', name } };
  const account = { kind: 'ServiceAccount', namespace: 'default', name };
  await server.send('POST', `${roles}/clusterrolebindings`, { ...bound, subjects: [account] });
  await server.send('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name } });
  const issued = await server.send('POST', `/api/v1/namespaces/default/serviceaccounts/${name}/token`, {});
  const authorization = `Bearer ${issued.json.status.token}`;
  const path = '/api/v1/namespaces/default/configmaps';
  assert.equal((await sendWith('GET', path, { authorization, 'impersonate-user': 'bob' })).status, 200);
  assert.equal((await sendWith('GET', path, { authorization, 'impersonate-user': 'eve' })).status, 403);
  const master = { authorization, 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' };
  assert.equal((await sendWith('GET', path, master)).status, 403);
});

test('edit holds what view holds, and takes up the rules of a role that is labelled for it', async () => {
  const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
  const metadata = { name: 'widgets', labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } };
  const rules = [{ apiGroups: ['example.com'], resources: ['widgets'], verbs: ['get'] }];
  assert.equal((await server.send('POST', roles, { metadata, rules })).status, 201);
  for (const name of ['view', 'edit', 'admin']) {
    await until(`${name} holds the rule of widgets`, async () => {
      const role = await server.send('GET', `${roles}/${name}`);
      return role.text.includes('example.com');
    });
  }
  await server.send('DELETE', `${roles}/widgets`);
  await until('admin no longer holds the rule of widgets', async () => {
    const role = await server.send('GET', `${roles}/admin`);
    return !role.text.includes('example.com');
  });
});

test('an access review says who may do what, and why', async () => {
  const review = {
    spec: { user: 'bob', resourceAttributes: { namespace: 'default', verb: 'get', resource: 'configmaps' } },
  };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  assert.deepEqual((await server.send('POST', path, review)).json.status, {
    allowed: true,
    reason: 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to User "bob"',
  });
  const denied = { spec: { user: 'nobody', resourceAttributes: { verb: 'get', resource: 'configmaps' } } };
  assert.deepEqual((await server.send('POST', path, denied)).json.status, { allowed: false });
});

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await isSo())) assert.ok(Date.now() < deadline, `waited 30 s: ${what}`);
}
