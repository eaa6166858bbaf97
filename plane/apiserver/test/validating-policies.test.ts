import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

const group = '/apis/admissionregistration.k8s.io/v1';

/** A policy for ConfigMaps of a namespace of its own, bound with `binding`; gives a function that creates one there. */
async function bind(name: string, spec: Record<string, unknown>, binding: Record<string, unknown>) {
  await server.send('POST', '/api/v1/namespaces', { metadata: { name } });
  const matchConstraints = {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
    resourceRules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] },
    ],
  };
  const policy = { metadata: { name }, spec: { matchConstraints, ...spec } };
  const created = await server.send('POST', `${group}/validatingadmissionpolicies`, policy);
  assert.equal(created.status, 201, created.text);
  const bound = { metadata: { name }, spec: { policyName: name, ...binding } };
  const reply = await server.send('POST', `${group}/validatingadmissionpolicybindings`, bound);
  assert.equal(reply.status, 201, reply.text);
  const path = `/api/v1/namespaces/${name}/configmaps`;
  return (object: Record<string, unknown>, query = '') => server.send('POST', `${path}${query}`, object);
}

/** A binding is heard of a moment after its reply. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 5000;
  while (!(await isSo())) assert.ok(Date.now() < deadline, `waited 5 s: ${what}`);
}

test('a policy that denies says why, by its message or by an expression', async () => {
  const validations = [
    {
      expression: 'object.metadata.name != "bad"',
      messageExpression: '"name " + object.metadata.name',
      reason: 'Forbidden',
    },
    { expression: '!has(object.data) || size(object.data) <= 1', message: 'one key at most' },
  ];
  const create = await bind('denying', { validations }, { validationActions: ['Deny'] });
  const bad = { metadata: { name: 'bad' } };
  await until('the policy denies', async () => (await create(bad, '?dryRun=All')).status === 403);
  const refused = await create(bad);
  const policy = "ValidatingAdmissionPolicy 'denying' with binding 'denying'";
  assert.equal(refused.json.message, `configmaps "bad" is forbidden: ${policy} denied request: name bad`);
  const wide = await create({ metadata: { name: 'wide' }, data: { a: '1', b: '2' } });
  assert.equal(wide.status, 422);
  assert.equal(wide.json.message, `configmaps "wide" is forbidden: ${policy} denied request: one key at most`);
  assert.equal((await create({ metadata: { name: 'good' } })).status, 201);
});

test('a policy that warns lets the write through, with variables and parameters', async () => {
  await server.send('POST', '/api/v1/namespaces/default/configmaps', {
    metadata: { name: 'limits' },
    data: { most: '2' },
  });
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    variables: [{ name: 'length', expression: 'size(object.metadata.name)' }],
    validations: [{ expression: 'variables.length <= int(params.data.most)' }],
  };
  const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
  const create = await bind('warning', spec, { validationActions: ['Warn'], paramRef });
  const long = { metadata: { name: 'long' } };
  await until('the policy warns', async () => (await create(long, '?dryRun=All')).headers.warning !== undefined);
  const created = await create(long);
  assert.equal(created.status, 201, created.text);
  assert.match(created.headers.warning ?? '', /failed expression: variables.length <= int\(params.data.most\)/);
  assert.equal((await create({ metadata: { name: 'ok' } })).headers.warning, undefined);
});

test('an expression that costs too much is refused, not run to its end', async () => {
  const items = `[${Array.from({ length: 50 }, (_, index) => index).join(', ')}]`;
  const nested = ['a', 'b', 'c', 'd', 'e'].reduce((inner, name) => `${items}.all(${name}, ${inner})`, 'true');
  const create = await bind('bomb', { validations: [{ expression: nested }] }, { validationActions: ['Deny'] });
  const started = Date.now();
  await until('the policy denies', async () => {
    const { status } = await create({ metadata: { name: 'a' } }, '?dryRun=All');
    return status === 422;
  });
  assert.ok(Date.now() - started < 5_000, 'the server was held up');
});
