import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { compactPeriodically } from './compaction.js';
import type { Keyspace } from './keyspace.js';
import { memoryKeyspace } from './memory-keyspace.js';

const intervalMs = 300_000;

function begin(processes: number) {
  const world = simulatedWorld(1);
  const keyspace = memoryKeyspace(world);
  const compactions: number[] = [];
  const counted: Keyspace = Object.assign(Object.create(keyspace), {
    get: keyspace.get.bind(keyspace),
    put: keyspace.put.bind(keyspace),
    compact: async (revision: number) => {
      compactions.push(revision);
      await keyspace.compact(revision);
    },
  });
  const notices: string[] = [];
  const stop = new AbortController();
  const { signal } = stop;
  const onNotice = (message: string) => notices.push(message);
  const start = () => compactPeriodically({ keyspace: counted, world, intervalMs, onNotice, signal });
  const running = Array.from({ length: processes }, start);
  const end = async () => {
    stop.abort();
    await Promise.all(running);
    await keyspace.close();
  };
  return { world, keyspace, compactions, notices, end };
}

test('K23: history is forgotten up to where the keyspace was an interval ago', async () => {
  const { world, keyspace, compactions, notices, end } = begin(1);
  await keyspace.put('/a', Buffer.from('1'), { ifRevision: 0 });
  await world.advance(1_000);
  await keyspace.put('/b', Buffer.from('1'), { ifRevision: 0 });
  const first = await keyspace.revision();
  await world.advance(intervalMs);
  const [compactedFirst = 0] = compactions;
  assert.ok(compactedFirst <= first);
  await keyspace.put('/c', Buffer.from('1'), { ifRevision: 0 });
  const second = await keyspace.revision();
  await world.advance(intervalMs);
  // The record was written once between the two, and is the last thing before the second compaction's revision.
  assert.deepEqual(compactions.slice(1), [first + 1]);
  assert.equal(await keyspace.compactedRevision(), first + 1);
  assert.ok(first + 1 < second);
  assert.deepEqual(notices, []);
  await end();
});

test('K23: several processes over one keyspace compact it once in an interval', async () => {
  const { world, keyspace, compactions, end } = begin(3);
  await world.advance(intervalMs * 10);
  assert.ok(compactions.length >= 9 && compactions.length <= 10, `${compactions.length} compactions`);
  assert.deepEqual(
    compactions,
    [...new Set(compactions)].sort((left, right) => left - right),
  );
  assert.equal(await keyspace.compactedRevision(), compactions.at(-1));
  await end();
});

test('a compaction that fails is told and tried again', async () => {
  const { world, keyspace, notices, end } = begin(1);
  await world.advance(1_000);
  await keyspace.close();
  await world.advance(intervalMs * 2);
  assert.equal(notices.length, 2);
  assert.match(notices[0] ?? '', /^old history was not forgotten, in 300 s it is tried again: the keyspace is closed/);
  await end();
});
