import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { realWorld } from '@castellan/world';
import type { ApiObject } from '../src/json.js';
import { createObjectStorage } from '../src/storage/object-storage.js';

const key = '/registry/configmaps/default/a';
const start: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, counter: 0 };

function newStorage() {
  const keyspace = memoryKeyspace(realWorld());
  return { keyspace, storage: createObjectStorage(keyspace) };
}

test('A6 no write is lost among concurrent writers of one object', async () => {
  const { storage, keyspace } = newStorage();
  await storage.create(key, start);
  const increment = (current: ApiObject) => ({
    type: 'put' as const,
    object: { ...current, counter: Number(current.counter) + 1 },
  });
  await Promise.all(Array.from({ length: 50 }, () => storage.guaranteedUpdate(key, increment)));
  assert.equal((await storage.get(key))?.counter, 50);
  await keyspace.close();
});

test('A7 a change that changes nothing writes nothing', async () => {
  const { storage, keyspace } = newStorage();
  await storage.create(key, start);
  const before = await keyspace.revision();
  const result = await storage.guaranteedUpdate(key, (current) => ({ type: 'put', object: { ...current } }));
  assert.equal(result?.type, 'unchanged');
  assert.equal(await keyspace.revision(), before);
  await keyspace.close();
});

test('A8 an object that is deleted while it is changed is not made again', async () => {
  const { storage, keyspace } = newStorage();
  await storage.create(key, start);
  let calls = 0;
  const result = await storage.guaranteedUpdate(key, async (current) => {
    calls += 1;
    const { keyValue } = await keyspace.get(key);
    if (keyValue !== undefined) await keyspace.delete(key, { ifRevision: keyValue.modRevision });
    return { type: 'put', object: { ...current, counter: 1 } };
  });
  assert.equal(result, undefined);
  assert.equal(calls, 1);
  assert.equal(await storage.get(key), undefined);
  await keyspace.close();
});

test('A9 a refusal by the change leaves the object as it was', async () => {
  const { storage, keyspace } = newStorage();
  const created = await storage.create(key, start);
  await assert.rejects(
    storage.guaranteedUpdate(key, () => {
      throw new Error('refused');
    }),
    /refused/,
  );
  assert.deepEqual(await storage.get(key), created);
  await keyspace.close();
});

test('an object that is there is not created over', async () => {
  const { storage, keyspace } = newStorage();
  assert.notEqual(await storage.create(key, start), undefined);
  assert.equal(await storage.create(key, { ...start, counter: 9 }), undefined);
  assert.equal((await storage.get(key))?.counter, 0);
  await keyspace.close();
});
