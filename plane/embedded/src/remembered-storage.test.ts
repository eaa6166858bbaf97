import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { rememberStorage } from './remembered-storage.js';

test('a data directory keeps its storage over starts, and another kind is refused', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-storage-'));
  const first = { type: 'etcd', endpoints: ['one:2379'] } as const;
  const moved = { type: 'etcd', endpoints: ['two:2379'] } as const;
  assert.deepEqual(await rememberStorage(directory, first), first);
  assert.deepEqual(await rememberStorage(directory, undefined), first);
  assert.deepEqual(await rememberStorage(directory, moved), moved);
  await assert.rejects(
    rememberStorage(directory, { type: 'embedded' }),
    /etcd at two:2379; next: leave `--storage` out/,
  );
  assert.deepEqual(await rememberStorage(directory, undefined), moved);
  await rm(directory, { recursive: true });
});

test('without the option the first start uses the embedded keyspace', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-storage-'));
  assert.deepEqual(await rememberStorage(directory, undefined), { type: 'embedded' });
  await assert.rejects(rememberStorage(directory, { type: 'etcd', endpoints: ['one:2379'] }), /in its own keyspace/);
  await rm(directory, { recursive: true });
});

test('the certificates of an etcd are kept while its endpoints change', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-storage-'));
  const tls = { caFile: '/pki/ca.crt', certificateFile: '/pki/client.crt', keyFile: '/pki/client.key' };
  const first = { type: 'etcd', endpoints: ['one:2379'], tls } as const;
  assert.deepEqual(await rememberStorage(directory, first), first);
  assert.deepEqual(await rememberStorage(directory, undefined), first);
  const moved = { type: 'etcd', endpoints: ['two:2379'] } as const;
  assert.deepEqual(await rememberStorage(directory, moved), { ...moved, tls });
  await rm(directory, { recursive: true });
});
