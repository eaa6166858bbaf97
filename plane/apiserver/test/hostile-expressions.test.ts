import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let server: ServerUnderTest;

before(async () => {
  server = await startServer();
});

after(() => server.stop());

const policies = '/apis/admissionregistration.k8s.io/v1';
const configMaps = '/api/v1/namespaces/default/configmaps';

function policy(name: string, validations: readonly object[], more: object = {}) {
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }];
  return { metadata: { name }, spec: { matchConstraints: { resourceRules }, validations, ...more } };
}

test('an expression that would run for ever is stopped by its cost, and the write is refused at once', async () => {
  const ten = '[1,2,3,4,5,6,7,8,9,0]';
  const bomb = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].reduceRight(
    (inner, name) => `${ten}.all(${name}, ${inner})`,
    'true',
  );
  await server.send('POST', `${policies}/validatingadmissionpolicies`, policy('bomb', [{ expression: bomb }]));
  const binding = { metadata: { name: 'bomb' }, spec: { policyName: 'bomb', validationActions: ['Deny'] } };
  await server.send('POST', `${policies}/validatingadmissionpolicybindings`, binding);
  const deadline = Date.now() + 30_000;
  let reply = await server.send('POST', `${configMaps}?dryRun=All`, { metadata: { name: 'x' } });
  while (reply.status === 201) {
    assert.ok(Date.now() < deadline, 'waited 30 s: the policy refuses');
    reply = await server.send('POST', `${configMaps}?dryRun=All`, { metadata: { name: 'x' } });
  }
  const refused = await server.send('POST', configMaps, { metadata: { name: 'x' } });
  assert.equal(refused.status, 422);
  assert.match(refused.json.message, /resulted in error: operation cancelled: actual cost limit exceeded$/);
  await server.send('DELETE', `${policies}/validatingadmissionpolicybindings/bomb`);
});

test('an expression that is nested 50,000 deep is refused when it is written, and the server goes on', async () => {
  const deep = `${'('.repeat(50_000)}true${')'.repeat(50_000)}`;
  const reply = await server.send(
    'POST',
    `${policies}/validatingadmissionpolicies`,
    policy('deep', [{ expression: deep }]),
  );
  assert.equal(reply.status, 422, reply.text.slice(0, 200));
  assert.match(reply.json.message, /compilation failed: /);
  assert.equal((await server.send('GET', '/readyz')).status, 200);
});

test('a regular expression takes time in proportion to its text, whatever it is', async () => {
  const schema = {
    type: 'object',
    properties: { text: { type: 'string', pattern: '^(a+)+$', maxLength: 100_000 } },
    'x-kubernetes-validations': [{ rule: "self.text.matches('^(a|aa)+$')" }],
  };
  const definition = {
    metadata: { name: 'bombs.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'bombs', singular: 'bomb', kind: 'Bomb', listKind: 'BombList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        },
      ],
    },
  };
  const made = await server.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  assert.equal(made.status, 201, made.text);
  const path = '/apis/example.com/v1/bombs';
  const deadline = Date.now() + 30_000;
  while ((await server.send('GET', path)).status !== 200)
    assert.ok(Date.now() < deadline, 'waited 30 s: bombs are served');
  const bomb = {
    apiVersion: 'example.com/v1',
    kind: 'Bomb',
    metadata: { name: 'a' },
    spec: { text: `${'a'.repeat(50_000)}!` },
  };
  const refused = await server.send('POST', path, bomb);
  assert.equal(refused.status, 422);
});

test('a mistake in an expression is told to who writes it, with its place', async () => {
  const spec = policy(
    'mistaken',
    [{ expression: 'objekt.metadata.name' }, { expression: "'text'" }, { expression: 'true', messageExpression: '1' }],
    { variables: [{ name: 'a', expression: '1' }], matchConditions: [{ name: 'c', expression: 'variables.b == 1' }] },
  );
  const refused = await server.send('POST', `${policies}/validatingadmissionpolicies`, spec);
  assert.equal(refused.status, 422);
  const told = refused.json.details.causes.map(({ field, message }: { field: string; message: string }) => [
    field,
    message.split('\n')[0],
  ]);
  assert.deepEqual(told, [
    [
      'spec.matchConditions[0].expression',
      'Invalid value: "variables.b == 1": compilation failed: ERROR: <input>:1:10: undefined field \'b\'',
    ],
    [
      'spec.validations[0].expression',
      "Invalid value: \"objekt.metadata.name\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'objekt' (in container '')",
    ],
    ['spec.validations[1].expression', 'Invalid value: "\'text\'": must evaluate to bool'],
    ['spec.validations[2].messageExpression', 'Invalid value: "1": must evaluate to string'],
  ]);
});
