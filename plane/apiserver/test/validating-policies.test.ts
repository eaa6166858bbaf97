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
  const deadline = Date.now() + 30_000;
  while (!(await isSo())) assert.ok(Date.now() < deadline, `waited 30 s: ${what}`);
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
  await until('the policy denies', async () => {
    const { status } = await create({ metadata: { name: 'a' } }, '?dryRun=All');
    return status === 422;
  });
});

test('a policy judges once with each of its parameters, found by label; without any the binding decides', async () => {
  const spec = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: [
      {
        expression: '!has(object.data) || !has(params.data) || int(object.data.size) <= int(params.data.max)',
        messageExpression: "'at most ' + params.data.max",
      },
    ],
  };
  const selector = { matchLabels: { limits: 'yes' } };
  const paramRef = { selector, parameterNotFoundAction: 'Deny' };
  const create = await bind('limited', spec, { paramRef, validationActions: ['Deny'] });
  const sized = (name: string, size: string) => create({ metadata: { name }, data: { size } });
  const who = "ValidatingAdmissionPolicy 'limited' with binding 'limited' denied request";
  const none = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction';
  await until('the policy denies', async () => (await sized('early', '1')).json.message?.endsWith(`${who}: ${none}`));
  // The parameters of this policy are themselves config maps of its namespace.
  const namespaces = '/api/v1/namespaces/limited';
  await server.send(
    'PATCH',
    `${group}/validatingadmissionpolicybindings/limited`,
    { spec: { validationActions: ['Warn'] } },
    {
      'content-type': 'application/merge-patch+json',
    },
  );
  for (const max of ['9', '5']) {
    const metadata = { name: `max-${max}`, labels: { limits: 'yes' } };
    await until(`the limit ${max} is there`, async () => {
      const reply = await server.send('POST', `${namespaces}/configmaps`, { metadata, data: { max } });
      return reply.status === 201 || reply.status === 409;
    });
  }
  const fits = await sized('fits', '5');
  assert.equal(fits.headers.warning, undefined);
  const warned = await sized('wide', '7');
  assert.match(String(warned.headers.warning), /: at most 5"$/);
  const twice = await sized('wider', '10');
  assert.equal(String(twice.headers.warning).split('299').length - 1, 2, twice.headers.warning);
});

test('an expression asks by authorizer what the client, or an account, may do', async () => {
  const check = "authorizer.group('apps').resource('deployments').namespace('asking').check('create')";
  const account = "authorizer.serviceAccount('asking', 'nobody').requestResource.check('delete').allowed()";
  const validations = [
    { expression: `${check}.allowed() && authorizer.path('/healthz').check('get').allowed()`, message: 'no apps' },
    { expression: `!${account}`, message: 'nobody may delete' },
    { expression: "authorizer.requestResource.check('create').allowed()", message: 'cannot create' },
  ];
  const create = await bind('asking', { validations }, { validationActions: ['Warn'] });
  assert.equal((await create({ metadata: { name: 'a' } })).headers.warning, undefined);
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create'] }];
  const roles = '/apis/rbac.authorization.k8s.io/v1';
  await server.send('POST', `${roles}/clusterroles`, { metadata: { name: 'asking' }, rules });
  const bound = { metadata: { name: 'asking' }, roleRef: { kind: 'ClusterRole', name: 'asking' } };
  await server.send('POST', `${roles}/clusterrolebindings`, { ...bound, subjects: [{ kind: 'User', name: 'bob' }] });
  const path = '/api/v1/namespaces/asking/configmaps';
  const asBob = await server.send('POST', path, { metadata: { name: 'b' } }, { 'impersonate-user': 'bob' });
  assert.equal(asBob.status, 201, asBob.text);
  assert.match(String(asBob.headers.warning), /: no apps"$/);
});

test('what cannot be evaluated counts by the failure policy, and says what has no value', async () => {
  const spec = {
    variables: [{ name: 'size', expression: 'int(object.data.size)' }],
    validations: [{ expression: 'variables.size > 0' }, { expression: 'namespaceObject.metadata.name == "broken"' }],
  };
  const create = await bind('broken', spec, { validationActions: ['Deny'] });
  await until('the policy denies', async () => (await create({ metadata: { name: 'a' } })).status === 422);
  const refused = await create({ metadata: { name: 'a' } });
  assert.equal(
    refused.json.message,
    `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'broken' with binding 'broken' denied request: expression 'variables.size > 0' resulted in error: composited variable "size" fails to evaluate: no such key: data`,
  );
  const ignoring = await bind('ignoring', { ...spec, failurePolicy: 'Ignore' }, { validationActions: ['Deny'] });
  const allowed = await ignoring({ metadata: { name: 'a' } });
  assert.equal(allowed.status, 422, 'the second validation is false and not without a value');
  assert.match(allowed.json.message, /failed expression: namespaceObject\.metadata\.name == "broken"$/);
});
