import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const headers = {
  'content-type': 'application/vnd.kubernetes.protobuf',
  accept: 'application/vnd.kubernetes.protobuf,application/json',
};
const configMaps = '/api/v1/namespaces/default/configmaps';

/** What kubectl 1.32 sends for `kubectl create configmap a --from-literal=k=v --namespace default`. */
const configMap = Buffer.from(
  '6b3873000a0f0a0276311209436f6e6669674d617012220a180a016112001a0764656661756c7422002a0032003800420012060a016b1201761a002200',
  'hex',
);

/** What kubectl 1.32 sends for `kubectl auth can-i get pods --namespace default`. */
const review = Buffer.from(
  '6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a656374416363657373526576696577123c0a100a0012001a0022002a00320038004200121e0a1c0a0764656661756c7412036765741a0022002a04706f647332003a001a08080012001a0020001a002200',
  'hex',
);

test('a Go client creates an object by protobuf and is answered in JSON', async () => {
  const created = await api.send('POST', configMaps, configMap, headers);
  assert.equal(created.status, 201, created.text);
  assert.equal(created.headers['content-type'], 'application/json');
  const { metadata, ...rest } = created.json;
  assert.deepEqual(rest, { kind: 'ConfigMap', apiVersion: 'v1', data: { k: 'v' } });
  assert.deepEqual(metadata.name, 'a');
  assert.equal('generateName' in metadata, false);
});

test('an access review by protobuf is answered', async () => {
  const answered = await api.send('POST', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review, headers);
  assert.equal(answered.status, 201, answered.text);
  assert.equal(answered.json.status.allowed, true);
  assert.deepEqual(answered.json.spec.resourceAttributes, { namespace: 'default', verb: 'get', resource: 'pods' });
});

test('DeleteOptions by protobuf hold: a uid that is not the object’s is a conflict', async () => {
  await api.send('POST', configMaps, { metadata: { name: 'kept' } });
  /** preconditions { uid: "other" } */
  const options = Buffer.from('12070a056f74686572', 'hex');
  const unknown = Buffer.concat([Buffer.from([0x12, options.length]), options]);
  const body = Buffer.concat([Buffer.from('6b387300', 'hex'), unknown]);
  const refused = await api.send('DELETE', `${configMaps}/kept`, body, headers);
  assert.equal(refused.status, 409, refused.text);
});

test('hostile protobuf bodies are refused', async () => {
  const bodies = [
    Buffer.from('6b387300ffffffffffffffffff', 'hex'),
    Buffer.from('{"kind":"ConfigMap"}'),
    Buffer.concat([Buffer.from('6b38730012', 'hex'), Buffer.from([0x80, 0x80, 0x80, 0x01]), Buffer.alloc(10, 0x0a)]),
    Buffer.concat([Buffer.from('6b387300', 'hex'), Buffer.alloc(2_000_000, 0x0a)]),
  ];
  for (const body of bodies) {
    const refused = await api.send('POST', configMaps, body, headers);
    assert.equal(refused.status, 400, refused.text);
    assert.equal(refused.json.reason, 'BadRequest');
  }
});
