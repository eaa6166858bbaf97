import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { KeyEvent } from '../keyspace.js';
import { prefixRange } from './key-order.js';
import { RevisionedMap } from './revisioned-map.js';
import { changeEvent } from './write-batch.js';

test('K5: what only reads before the compacted revision could have seen is freed, and nothing else', async () => {
  const map = new RevisionedMap();
  const values = new Map<number, WeakRef<Uint8Array>>();
  const change = (key: string, value?: Uint8Array) => {
    const revision = map.revision + 1;
    const event: KeyEvent = changeEvent(value ? { key, value } : { key }, revision, map.get(key));
    if (value !== undefined) values.set(revision, new WeakRef(value));
    map.apply(revision, [event]);
  };
  change('/kept', new Uint8Array(1000)); // 2
  change('/kept', new Uint8Array(1000)); // 3: what revision 5 shows
  change('/deleted', new Uint8Array(1000)); // 4
  change('/deleted'); // 5
  change('/kept', new Uint8Array(1000)); // 6
  change('/later', new Uint8Array(1000)); // 7
  change('/later'); // 8
  const heldBefore = map.heldBytes;
  map.compact(5);
  await collectGarbage();
  const held = [...values].filter(([, value]) => value.deref() !== undefined).map(([revision]) => revision);
  assert.deepEqual(held, [3, 6, 7]);
  assert.equal(heldBefore - map.heldBytes, 2 * 1000 + '/kept'.length + 2 * '/deleted'.length);
  map.compact(8);
  await collectGarbage();
  assert.deepEqual(
    [...values].filter(([, value]) => value.deref() !== undefined).map(([revision]) => revision),
    [6],
  );
  assert.equal(map.heldBytes, 1000 + '/kept'.length);
  assert.deepEqual(
    map.range(prefixRange('')).keyValues.map(({ key }) => key),
    ['/kept'],
  );
});

test('K5: compacting all away leaves a map that can be written again', () => {
  const map = new RevisionedMap();
  map.apply(2, [changeEvent({ key: '/a', value: new Uint8Array(1) }, 2, undefined)]);
  map.apply(3, [changeEvent({ key: '/a' }, 3, map.get('/a'))]);
  map.compact(3);
  assert.deepEqual([map.keys, map.heldBytes], [0, 0]);
  map.apply(4, [changeEvent({ key: '/a', value: new Uint8Array(1) }, 4, map.get('/a'))]);
  assert.equal(map.get('/a')?.version, 1);
  assert.equal(map.get('/a', 3), undefined);
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  // A WeakRef keeps its target until the present job has ended.
  await new Promise((resolve) => setImmediate(resolve));
  collect();
}
