import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryKeyspace } from '@castellan/keyspace';
import { simulatedWorld } from '@castellan/world';
import { EventLeases } from './event-leases.js';

function newLeases() {
  const world = simulatedWorld(1);
  const keyspace = memoryKeyspace(world);
  const granted: number[] = [];
  const recording = Object.assign(Object.create(keyspace), {
    grantLease: (ttlSeconds: number) => {
      granted.push(ttlSeconds);
      return keyspace.grantLease(ttlSeconds);
    },
  });
  return { world, keyspace, granted, leases: new EventLeases(recording, world) };
}

test('objects written within the same minute share a lease that outlives the last of them', async () => {
  const { world, leases, granted } = newLeases();
  const first = await leases.lease(3600);
  await world.advance(59_999);
  assert.equal(await leases.lease(3600), first);
  await world.advance(1);
  assert.notEqual(await leases.lease(3600), first);
  assert.deepEqual(granted, [3660, 3660]);
});

test('a short life shares for a twentieth of it only', async () => {
  const { world, leases, granted } = newLeases();
  const first = await leases.lease(100);
  await world.advance(4_999);
  assert.equal(await leases.lease(100), first);
  await world.advance(1);
  assert.notEqual(await leases.lease(100), first);
  assert.deepEqual(granted, [105, 105]);
});

test('a lease carries a thousand objects at most', async () => {
  const { leases } = newLeases();
  const used = new Map<string, number>();
  for (let object = 0; object < 2_500; object += 1) {
    const lease = await leases.lease(3600);
    used.set(lease, (used.get(lease) ?? 0) + 1);
  }
  assert.deepEqual([...used.values()], [1000, 1000, 500]);
});

test('an object ends after its time to live, with those that share its lease', async () => {
  const { world, keyspace, leases } = newLeases();
  await keyspace.put('/a', Buffer.from('1'), { ifRevision: 0, lease: await leases.lease(100) });
  await world.advance(100_000);
  assert.equal((await keyspace.get('/a')).keyValue?.version, 1);
  await world.advance(5_001);
  assert.equal((await keyspace.get('/a')).keyValue, undefined);
});
