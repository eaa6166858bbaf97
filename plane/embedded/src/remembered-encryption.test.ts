import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rememberEncryption } from './remembered-encryption.js';

const configuration = {
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'EncryptionConfiguration',
  resources: [
    {
      resources: ['secrets'],
      providers: [{ aescbc: { keys: [{ name: 'one', secret: Buffer.alloc(32).toString('base64') }] } }],
    },
  ],
};

test('a start that does not name the encryption configuration uses the one of before', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-encryption-'));
  const file = join(directory, 'encryption.yaml');
  assert.equal(await rememberEncryption(directory, undefined), undefined);
  await writeFile(file, JSON.stringify(configuration));
  await rememberEncryption(directory, file);
  const encryption = await rememberEncryption(directory, undefined);
  const sealed = encryption?.transformerOf({ group: '', plural: 'secrets' }).seal('/a', Buffer.from('{}'));
  assert.match(Buffer.from(sealed ?? []).toString('latin1'), /^k8s:enc:aescbc:v1:one:/);
  await rm(file);
  await assert.rejects(
    rememberEncryption(directory, undefined),
    /it cannot be read: .*; next: correct it, or name another/,
  );
  await rm(directory, { recursive: true });
});

test('a file that is no encryption configuration is not remembered', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-encryption-'));
  const file = join(directory, 'encryption.yaml');
  await writeFile(file, 'kind: Pod');
  await assert.rejects(rememberEncryption(directory, file), { code: 'ENCRYPTION' });
  assert.equal(await rememberEncryption(directory, undefined), undefined);
  await rm(directory, { recursive: true });
});
