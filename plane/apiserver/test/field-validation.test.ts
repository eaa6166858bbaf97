import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, zzz: 2 },
  spec: { containers: [{ name: 'c', image: 'registry.example/app:1', odd: {} }], nosuch: 1 },
});

test('unknown fields of a built-in kind are refused under Strict, in the order of the text', async () => {
  const refused = await api.send('POST', `${pods}?fieldValidation=Strict`, pod('strict'));
  assert.equal(refused.status, 400);
  assert.equal(
    refused.json.message,
    'Pod in version "v1" cannot be handled as a Pod: strict decoding error: unknown field "metadata.zzz", unknown field "spec.containers[0].odd", unknown field "spec.nosuch"',
  );
});

test('unknown fields of a built-in kind are told as warnings by default, and not stored', async () => {
  const created = await api.send('POST', pods, pod('warned'));
  assert.equal(created.status, 201, created.text);
  assert.equal(
    created.headers.warning,
    '299 - "unknown field \\"metadata.zzz\\"", 299 - "unknown field \\"spec.containers[0].odd\\"", 299 - "unknown field \\"spec.nosuch\\""',
  );
  assert.equal(created.json.spec.nosuch, undefined);
  assert.equal(created.json.spec.containers[0].odd, undefined);
});

test('fields that are there twice are refused or told, in JSON and in YAML', async () => {
  const json = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","name":"d"},"data":{"a":"1","a":"2"}}';
  const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "d"\ndata:\n  a: "1"\n  a: "2"\n';
  const strict = `${configMaps}?fieldValidation=Strict`;
  const prefix = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ';
  const inJson = await api.send('POST', strict, json);
  assert.equal(inJson.json.message, `${prefix}duplicate field "metadata.name", duplicate field "data.a"`);
  const inYaml = await api.send('POST', strict, yaml, { 'content-type': 'application/yaml' });
  assert.equal(inYaml.json.message, `${prefix}yaml: unmarshal errors:\n  line 7: key "a" already set in map`);
  const told = await api.send('POST', configMaps, json);
  assert.equal(
    told.headers.warning,
    '299 - "duplicate field \\"metadata.name\\"", 299 - "duplicate field \\"data.a\\""',
  );
  assert.deepEqual(told.json.data, { a: '2' });
});

test('a value of a wrong type is named with its field and the type that it should have', async () => {
  const wrongPod = {
    ...pod('wrong'),
    spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: '80' }] }] },
  };
  const refusedPod = await api.send('POST', pods, wrongPod);
  assert.equal(
    refusedPod.json.message,
    'Pod in version "v1" cannot be handled as a Pod: json: cannot unmarshal string into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32',
  );
  const refusedMap = await api.send('POST', configMaps, { metadata: { name: 'wrong' }, data: { a: 1 } });
  assert.equal(
    refusedMap.json.message,
    'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
  );
});

test('nulls and empty values that say nothing are not stored', async () => {
  const body = { metadata: { name: 'empty', labels: {}, finalizers: null }, data: {}, immutable: null };
  const created = await api.send('POST', configMaps, body);
  assert.equal(created.json.data, undefined);
  assert.equal(created.json.metadata.labels, undefined);
  assert.ok(!Object.hasOwn(created.json, 'immutable'));
});

/** Each line is a list of four times the line before. */
const aliasBomb = Array.from({ length: 12 }, (_, line) => {
  const before = line === 0 ? 'x' : `*a${line - 1}`;
  return `a${line}: &a${line} [${before}, ${before}, ${before}, ${before}]`;
}).join('\n');

test('bodies that are nested without end are refused in every format', async () => {
  const nested = '['.repeat(100_000);
  const bodies = [
    ['application/json', `{"data": ${nested}`],
    ['application/yaml', `{"data": ${nested}`],
    ['application/yaml', '- '.repeat(100_000)],
    ['application/yaml', '? '.repeat(100_000)],
    ['application/yaml', Array.from({ length: 1400 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')],
    ['application/yaml', aliasBomb],
  ] as const;
  for (const [type, body] of bodies) {
    const refused = await api.send('POST', configMaps, body, { 'content-type': type });
    assert.equal(refused.status, 400, refused.text.slice(0, 300));
  }
  for (const type of ['application/merge-patch+json', 'application/apply-patch+yaml', 'application/json-patch+json']) {
    const refused = await api.send('PATCH', `${configMaps}/x?fieldManager=m`, nested, { 'content-type': type });
    assert.equal(refused.status, 400, refused.text.slice(0, 300));
  }
  assert.equal((await api.send('GET', configMaps)).status, 200);
});
