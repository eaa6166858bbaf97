import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
  const schema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: {
          exact: { type: 'integer', format: 'int64', maximum: 9223372036854775000 },
          ids: { type: 'array', items: { type: 'integer', format: 'int64' }, 'x-kubernetes-list-type': 'set' },
        },
        'x-kubernetes-validations': [
          { rule: '!has(self.exact) || self.exact != 9007199254740995', message: 'not that one' },
        ],
      },
    },
  };
  const names = { plural: 'ledgers', singular: 'ledger', kind: 'Ledger' };
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  const definition = {
    metadata: { name: 'ledgers.example.com' },
    spec: { group: 'example.com', names, scope: 'Namespaced', versions },
  };
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  assert.equal((await api.send('POST', crds, definition)).status, 201);
});
after(() => api.stop());

const ledgers = '/apis/example.com/v1/namespaces/default/ledgers';
const ledger = (name: string, spec: string) =>
  `{"apiVersion":"example.com/v1","kind":"Ledger","metadata":{"name":"${name}"},"spec":${spec}}`;
const patchOf = (type: string) => ({ 'content-type': `application/${type}` });

test('an integer of 64 bits goes through create, patches, apply, get, list, watch and YAML as it is', async () => {
  const created = await api.send(
    'POST',
    ledgers,
    ledger('a', '{"exact":9007199254740993,"free":{"n":-9223372036854775808}}'),
  );
  assert.equal(created.status, 201, created.text);
  assert.match(created.text, /"exact":9007199254740993,"free":\{"n":-9223372036854775808\}/);
  const merged = await api.send(
    'PATCH',
    `${ledgers}/a`,
    '{"spec":{"more":9223372036854775807}}',
    patchOf('merge-patch+json'),
  );
  assert.match(merged.text, /"exact":9007199254740993/);
  assert.match(merged.text, /"more":9223372036854775807/);
  const operations =
    '[{"op":"test","path":"/spec/more","value":9223372036854775807},{"op":"copy","from":"/spec/exact","path":"/spec/twin"}]';
  const patched = await api.send('PATCH', `${ledgers}/a`, operations, patchOf('json-patch+json'));
  assert.match(patched.text, /"twin":9007199254740993/);
  const applied = await api.send(
    'PATCH',
    `${ledgers}/a?fieldManager=m`,
    'apiVersion: example.com/v1\nkind: Ledger\nmetadata: {name: a}\nspec: {ids: [9007199254740993, 9007199254740992]}\n',
    patchOf('apply-patch+yaml'),
  );
  assert.match(applied.text, /"ids":\[9007199254740993,9007199254740992\]/);
  assert.match(applied.text, /"v:9007199254740993":\{\}/);
  for (const path of [`${ledgers}/a`, ledgers]) {
    assert.match((await api.send('GET', path)).text, /"exact":9007199254740993/);
  }
  const yaml = await api.send('GET', `${ledgers}/a`, undefined, { accept: 'application/yaml' });
  assert.match(yaml.text, /\n {2}exact: 9007199254740993\n/);
});

test('limits and rules see an integer of 64 bits as it is', async () => {
  const over = await api.send('POST', ledgers, ledger('b', '{"exact":9223372036854775807}'));
  assert.equal(over.status, 422);
  assert.match(
    over.json.message,
    /spec\.exact: Invalid value: 9223372036854775807: spec\.exact in body should be less than/,
  );
  const ruled = await api.send('POST', ledgers, ledger('b', '{"exact":9007199254740995}'));
  assert.match(ruled.json.message, /not that one/);
  assert.equal((await api.send('POST', ledgers, ledger('b', '{"exact":9007199254740994}'))).status, 201);
});

test('a built-in field of 64 bits keeps its value, and one of 32 bits refuses what it cannot hold', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const pod = (extra: string) => `{"metadata":{"name":"p"},"spec":{${extra}"containers":[{"name":"c","image":"i"}]}}`;
  const kept = await api.send(
    'POST',
    pods,
    pod('"activeDeadlineSeconds":1,"terminationGracePeriodSeconds":9007199254740993,'),
  );
  assert.equal(kept.status, 201, kept.text);
  assert.match(kept.text, /"terminationGracePeriodSeconds":9007199254740993/);
  const refused = await api.send('POST', pods, pod('"priority":9007199254740993,'));
  assert.equal(
    refused.json.message,
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal number 9007199254740993 into Go struct field PodSpec.spec.priority of type int32',
  );
});

test('a text of digits, such as an annotation, stays a text', async () => {
  const configMaps = '/api/v1/namespaces/default/configmaps';
  const body = { metadata: { name: 'digits', annotations: { n: '9007199254740993' } } };
  const { json } = await api.send('POST', configMaps, body);
  assert.equal(json.metadata.annotations.n, '9007199254740993');
});
