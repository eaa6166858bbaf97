import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const core = '/api/v1/namespaces/default';
const deployments = '/apis/apps/v1/namespaces/default/deployments';
const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const deployment = (name: string) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { a: 'b' } }, template },
});

test('a number or a name is neither a truth nor a fraction', async () => {
  const budgets = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
  const wrong = await api.send('POST', budgets, { metadata: { name: 'a' }, spec: { minAvailable: true } });
  assert.equal(
    wrong.json.message,
    'PodDisruptionBudget in version "v1" cannot be handled as a PodDisruptionBudget: json: cannot unmarshal bool into Go struct field PodDisruptionBudgetSpec.spec.minAvailable of type int32',
  );
  const ports = [{ port: 80, targetPort: 1.5 }];
  const fraction = await api.send('POST', `${core}/services`, { metadata: { name: 'a' }, spec: { ports } });
  assert.match(
    fraction.json.message,
    /cannot unmarshal number 1\.5 into Go struct field ServicePort\.spec\.ports\.targetPort of type int32$/,
  );
});

test('a body that is null is an object without anything', async () => {
  const reply = await api.send('POST', `${core}/configmaps`, 'null');
  assert.match(reply.json.message, /metadata\.name: Required value: name or generateName is required$/);
});

test('a time limit that is no number is refused by a list too', async () => {
  const reply = await api.send('GET', `${core}/pods?timeoutSeconds=abc`);
  assert.deepEqual([reply.status, reply.json.message], [400, 'strconv.ParseInt: parsing "abc": invalid syntax']);
});

test('the scale of a built-in kind need not say what it is, is patched strategically, and is not negative', async () => {
  await api.send('POST', deployments, deployment('scaled'));
  const put = await api.send('PUT', `${deployments}/scaled/scale`, {
    metadata: { name: 'scaled' },
    spec: { replicas: 2 },
  });
  assert.deepEqual([put.status, put.json.spec.replicas], [200, 2], put.text);
  const strategic = { 'content-type': 'application/strategic-merge-patch+json' };
  const patched = await api.send('PATCH', `${deployments}/scaled/scale`, { spec: { replicas: 3 } }, strategic);
  assert.deepEqual([patched.status, patched.json.spec.replicas], [200, 3], patched.text);
  const refused = await api.send('PATCH', `${deployments}/scaled/scale`, { spec: { replicas: -1 } }, strategic);
  assert.equal(
    refused.json.message,
    'Scale.autoscaling "scaled" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  );
});

test('a binding is to a node that it names, and of the pod of its URL', async () => {
  const other = await api.send('POST', `${core}/pods/a/binding`, { metadata: { name: 'b' }, target: { name: 'n' } });
  assert.deepEqual([other.status, other.json.message], [400, 'name in URL does not match name in Binding object']);
  const odd = await api.send('POST', `${core}/pods/a/binding`, { metadata: { name: 'a' }, target: { kind: 'Foo' } });
  assert.deepEqual(
    [odd.status, odd.json.message],
    [500, '[target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>", target.name: Required value]'],
  );
});

test('a JSON patch that is no list is refused as Go refuses it', async () => {
  const type = { 'content-type': 'application/json-patch+json' };
  await api.send('POST', `${core}/configmaps`, { metadata: { name: 'patched' } });
  const refused = await api.send('PATCH', `${core}/configmaps/patched`, { op: 'add' }, type);
  assert.equal(
    refused.json.message,
    'error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
  );
});
