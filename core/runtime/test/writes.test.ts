import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConfigMap, configMaps, isRecord, type Pod, pods, StatusError } from '@castellan/machinery';
import fc from 'fast-check';
import { ensureObject, ownerReferenceFor, updateStatus } from '../src/index.js';
import { mergeDifference } from '../src/write/merge-difference.js';
import { FakeCluster } from './fake-cluster.js';

const key = { namespace: 'default', name: 'a' };

function desired(data: Readonly<Record<string, string>>): ConfigMap {
  return { metadata: { ...key, labels: { app: 'x' } }, data };
}

const writes = (client: FakeCluster) => [...client.requests('P')];

test('an object that is absent is created, one that is as wanted is left alone, one that differs is patched where it differs', async () => {
  const client = new FakeCluster();
  await ensureObject(client, configMaps, desired({ one: '1', two: '2' }));
  await ensureObject(client, configMaps, desired({ one: '1', two: '2' }));
  const patched = await ensureObject(client, configMaps, desired({ one: '1', two: 'changed' }));
  assert.deepEqual(patched.data, { one: '1', two: 'changed' });
  const path = '/api/v1/namespaces/default/configmaps/a';
  assert.deepEqual(writes(client), [`POST ${path}`, `PATCH ${path} {"data":{"two":"changed"}}`]);
});

test('fields that others set, defaults in elements of lists, and the status are left alone', async () => {
  const client = new FakeCluster();
  const wanted: Pod = { metadata: key, spec: { containers: [{ name: 'main', image: 'one' }] } };
  const existing = await client.create(pods, {
    metadata: { ...key, annotations: { theirs: 'yes' } },
    spec: { nodeName: 'node-1', containers: [{ name: 'main', image: 'one', terminationMessagePath: '/dev/x' }] },
    status: { phase: 'Running' },
  });
  const status = { phase: 'Pending' };
  assert.equal(await ensureObject(client, pods, { ...wanted, status }, { existing }), existing);
  assert.equal(writes(client).length, 1);
  await ensureObject(client, pods, { ...wanted, spec: { containers: [{ name: 'main', image: 'two' }] } }, { existing });
  assert.equal((await client.get(pods, key)).spec?.nodeName, 'node-1');
});

test('an object that somebody else creates in between is patched like any other', async () => {
  const client = new FakeCluster();
  client.intercept = async (call) => {
    if (!call.startsWith('POST')) return;
    client.intercept = () => undefined;
    await client.create(configMaps, desired({ one: 'theirs' }));
  };
  const object = await ensureObject(client, configMaps, desired({ one: 'ours' }));
  assert.deepEqual(object.data, { one: 'ours' });
});

test('an object that is on its way out is not patched, and that is an error', async () => {
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: { ...key, finalizers: ['x/y'] } });
  await client.delete(configMaps, key);
  await assert.rejects(ensureObject(client, configMaps, desired({})), /ConfigMap default\/a is being deleted/);
});

test('an owner reference names the owner as controller; an object without a uid cannot own', async () => {
  const client = new FakeCluster();
  const owner = await client.create(configMaps, desired({}));
  assert.deepEqual(ownerReferenceFor(owner, configMaps), {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'a',
    uid: owner.metadata.uid,
    controller: true,
    blockOwnerDeletion: true,
  });
  assert.throws(() => ownerReferenceFor(desired({}), configMaps), /it has no uid/);
});

test('a status is written when it differs, in its subresource, and not over the change of another', async () => {
  const client = new FakeCluster();
  const pod = await client.create(pods, { metadata: key, status: { phase: 'Pending', message: 'old' } });
  assert.equal(await updateStatus(client, pods, pod, { message: 'old', phase: 'Pending' }), pod);
  const written = await updateStatus(client, pods, pod, { phase: 'Running' });
  assert.deepEqual(written.status, { phase: 'Running' });
  assert.deepEqual(client.requests('PUT'), ['PUT /api/v1/namespaces/default/pods/a/status']);
  await assert.rejects(updateStatus(client, pods, pod, { phase: 'Failed' }), (error) => {
    return error instanceof StatusError && error.reason === 'Conflict';
  });
});

/** Names that every JavaScript object seems to have are names like others. */
const names = fc.constantFrom('a', 'b', 'valueOf', 'constructor', '__proto__');

test('whatever differs, the patch brings about, and after it nothing differs', () => {
  fc.assert(
    fc.property(
      fc.dictionary(names, fc.jsonValue({ maxDepth: 2 })),
      fc.dictionary(names, fc.jsonValue({ maxDepth: 2 })),
      (wanted, actual) => {
        const patch = mergeDifference(wanted, actual);
        if (patch !== undefined) assert.equal(mergeDifference(wanted, applied(actual, patch)), undefined);
      },
    ),
  );
});

/** JSON merge patch (RFC 7396). */
function applied(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const fields = new Map(isRecord(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) fields.delete(name);
    else fields.set(name, applied(fields.get(name), value));
  }
  return Object.fromEntries(fields);
}
