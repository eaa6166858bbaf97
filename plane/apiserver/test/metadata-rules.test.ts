import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const configMaps = '/api/v1/namespaces/default/configmaps';
const merge = { 'content-type': 'application/merge-patch+json' };

async function refusalOf(metadata: object): Promise<string> {
  const { status, json } = await api.send('POST', configMaps, { metadata: { name: 'refused', ...metadata } });
  assert.equal(status, 422, JSON.stringify(metadata));
  return json.message.replace('ConfigMap "refused" is invalid: ', '');
}

test('annotations, finalizers and owners are held to their rules, in the words of kube-apiserver', async () => {
  const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
  assert.match(
    await refusalOf({ annotations: { 'a/b/c': '' } }),
    /^metadata\.annotations: Invalid value: "a\/b\/c": a valid label key must consist/,
  );
  assert.equal(
    await refusalOf({ annotations: { a: 'x'.repeat(256 * 1024) } }),
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  );
  assert.equal(
    await refusalOf({ finalizers: ['mine'] }),
    'metadata.finalizers[0]: Invalid value: "mine": name is neither a standard finalizer name nor is it fully qualified',
  );
  assert.equal(
    await refusalOf({ finalizers: ['orphan', 'foregroundDeletion'] }),
    'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
  );
  assert.equal(
    await refusalOf({ ownerReferences: [{ ...owner, uid: '' }] }),
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  );
  assert.equal(
    await refusalOf({ ownerReferences: [{ ...owner, kind: 'Event' }] }),
    'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"p","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
  );
  const two = [owner, { ...owner, uid: 'v' }].map((each) => ({ ...each, controller: true }));
  assert.match(await refusalOf({ ownerReferences: two }), /Found "true" in references for Pod\/p and Pod\/p$/);
  assert.match(
    await refusalOf({ name: undefined, generateName: 'Bad-' }),
    /metadata\.generateName: Invalid value: "Bad-": a lowercase RFC 1123 subdomain/,
  );
});

test('of an object that is there, the creation cannot be moved and the deletion cannot be said', async () => {
  const { json: before } = await api.send('POST', configMaps, { metadata: { name: 'kept' } });
  const change = (metadata: object) => api.send('PATCH', `${configMaps}/kept`, { metadata }, merge);
  const moved = await change({ creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 });
  assert.equal(moved.status, 200);
  assert.deepEqual(moved.json, before);
  const marked = await change({ deletionTimestamp: '2001-01-01T00:00:00Z' });
  assert.equal(marked.status, 422);
  assert.equal(
    marked.json.message,
    'ConfigMap "kept" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
  );
});

test('a patch that makes another kind of an object is refused with the object that it would make', async () => {
  await api.send('POST', configMaps, { metadata: { name: 'turned' }, data: { k: '<b>' } });
  const { status, json } = await api.send('PATCH', `${configMaps}/turned`, { kind: 'Secret' }, merge);
  assert.equal(status, 422);
  assert.match(json.message, /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"data\\":/);
  assert.match(json.message, /\\\\u003cb\\\\u003e/);
  assert.match(json.message, /: converting \(v1\.Secret\) to \(core\.ConfigMap\): unknown conversion$/);
});

test('options of a delete that contradict themselves are refused, in a body and in the query', async () => {
  await api.send('POST', configMaps, { metadata: { name: 'stays' } });
  const both = { orphanDependents: true, propagationPolicy: 'Orphan' };
  const inBody = await api.send('DELETE', `${configMaps}/stays`, both);
  const inQuery = await api.send('DELETE', `${configMaps}/stays?orphanDependents=true&propagationPolicy=Orphan`);
  for (const { status, json } of [inBody, inQuery]) {
    assert.equal(status, 422);
    assert.match(json.message, /propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation/);
  }
  const legacy = await api.send('DELETE', `${configMaps}/stays?orphanDependents=true&dryRun=All`);
  assert.deepEqual(legacy.json.metadata.finalizers, ['orphan']);
  assert.equal((await api.send('GET', `${configMaps}/stays`)).json.metadata.finalizers, undefined);
});

test('a reply in YAML is written as Go writes it', async () => {
  const data = { a10: 'yes', a2: '1.5', b: 'two\nlines\n', c: 'a: b', d: 'plain', e: '', f: '2020-01-01' };
  await api.send('POST', configMaps, { metadata: { name: 'yaml' }, data });
  const { text } = await api.send('GET', `${configMaps}/yaml`, undefined, { accept: 'application/yaml' });
  const lines = [
    'apiVersion: v1',
    'data:',
    '  a2: "1.5"',
    '  a10: "yes"',
    '  b: |',
    '    two',
    '    lines',
    "  c: 'a: b'",
    '  d: plain',
    '  e: ""',
    '  f: "2020-01-01"',
    'kind: ConfigMap',
  ];
  assert.ok(text.startsWith(`${lines.join('\n')}\n`), text);
  assert.match(text, /\n {2}managedFields:\n {2}- apiVersion: v1\n/);
});
