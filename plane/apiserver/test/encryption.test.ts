import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';
import { createApiServer, DecryptionError, type Encryption, readEncryptionConfiguration } from '../src/index.js';
import { startServer } from './server-under-test.js';

const collection = '/api/v1/namespaces/default/secrets';
const storedAt = '/registry/secrets/default/a';
const world = realWorld();

async function encryptionOf(providers: unknown): Promise<Encryption> {
  const directory = await mkdtemp(join(tmpdir(), 'encryption-'));
  const file = join(directory, 'encryption.yaml');
  const resources = [{ resources: ['secrets'], providers }];
  const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources };
  await writeFile(file, JSON.stringify(configuration));
  try {
    return await readEncryptionConfiguration(file);
  } finally {
    await rm(directory, { recursive: true });
  }
}

const keyOf = (name: string, fill: number) => ({ name, secret: Buffer.alloc(32, fill).toString('base64') });

test('A10 secrets are stored sealed and read, listed and watched as they were sent', async () => {
  const encryption = await encryptionOf([{ aesgcm: { keys: [keyOf('one', 1)] } }, { identity: {} }]);
  const server = await startServer({ encryption });
  try {
    const watch = server.watch(`${collection}?watch=true&resourceVersion=0`);
    const created = await server.send('POST', collection, { metadata: { name: 'a' }, stringData: { word: 'mellon' } });
    assert.equal(created.status, 201);
    const { keyValue } = await server.keyspace.get(storedAt);
    const stored = Buffer.from(keyValue?.value ?? []).toString('latin1');
    assert.match(stored, /^k8s:enc:aesgcm:v1:one:/);
    assert.ok(!stored.includes('bWVsbG9u'));
    assert.equal((await server.send('GET', `${collection}/a`)).json.data.word, 'bWVsbG9u');
    assert.equal((await server.send('GET', collection)).json.items[0].data.word, 'bWVsbG9u');
    assert.equal((await watch.next()).object.data.word, 'bWVsbG9u');
    const revision = created.json.metadata.resourceVersion;
    const past = await server.send('GET', `${collection}?resourceVersion=${revision}&resourceVersionMatch=Exact`);
    assert.equal(past.json.items[0].data.word, 'bWVsbG9u');
    await server.send('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'plain' } });
    const plain = await server.keyspace.get('/registry/configmaps/default/plain');
    assert.equal(Buffer.from(plain.keyValue?.value ?? []).toString()[0], '{');
    watch.close();
  } finally {
    await server.stop();
  }
});

test('A10 an update that changes nothing seals a value anew when its key is not the first any more', async () => {
  const keyspace = memoryKeyspace(world);
  const before = await startServer({
    keyspace,
    encryption: await encryptionOf([{ aescbc: { keys: [keyOf('one', 1)] } }]),
  });
  await before.send('POST', collection, { metadata: { name: 'a' }, stringData: { word: 'mellon' } });
  await before.server.close();
  const keys = [keyOf('two', 2), keyOf('one', 1)];
  const after = await startServer({ keyspace, encryption: await encryptionOf([{ aescbc: { keys } }]) });
  try {
    const { json: object } = await after.send('GET', `${collection}/a`);
    const rewritten = await after.send('PUT', `${collection}/a`, object);
    assert.notEqual(rewritten.json.metadata.resourceVersion, object.metadata.resourceVersion);
    const { keyValue } = await keyspace.get(storedAt);
    assert.match(Buffer.from(keyValue?.value ?? []).toString('latin1'), /^k8s:enc:aescbc:v1:two:/);
    const again = await after.send('PUT', `${collection}/a`, rewritten.json);
    assert.equal(again.json.metadata.resourceVersion, rewritten.json.metadata.resourceVersion);
  } finally {
    await after.stop();
  }
});

test('A11 a server without the key of what is stored does not start', async () => {
  const keyspace = memoryKeyspace(world);
  const server = await startServer({
    keyspace,
    encryption: await encryptionOf([{ secretbox: { keys: [keyOf('one', 1)] } }]),
  });
  await server.send('POST', collection, { metadata: { name: 'a' } });
  await server.server.close();
  await assert.rejects(createApiServer({ keyspace, world }), (error) => {
    assert.ok(error instanceof DecryptionError);
    assert.match(error.message, /it is encrypted by secretbox:v1 with the key "one", which is not configured/);
    return true;
  });
  await server.stop();
});

test('A11 an object that no key opens is a 500 with its key in the keyspace, and others are served', async () => {
  const server = await startServer({ encryption: await encryptionOf([{ aescbc: { keys: [keyOf('one', 1)] } }]) });
  try {
    await server.send('POST', collection, { metadata: { name: 'b' } });
    await server.keyspace.put(storedAt, Buffer.from('k8s:enc:aescbc:v1:lost:garbage'), { ifRevision: 0 });
    const message =
      'Internal error occurred: unable to transform key "/registry/secrets/default/a": no matching prefix found: ' +
      'it is encrypted by aescbc:v1 with the key "lost", which is not configured';
    for (const path of [`${collection}/a`, collection]) {
      const { status, json } = await server.send('GET', path);
      assert.deepEqual([status, json.reason, json.message], [500, 'InternalError', message]);
    }
    assert.equal((await server.send('GET', `${collection}/b`)).status, 200);
  } finally {
    await server.stop();
  }
});
