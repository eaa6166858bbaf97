import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { VolumeDirectories } from './volume-directories.js';

const name = 'pvc-00000000-0000-4000-8000-000000000001';

function newStore(t: TestContext): { readonly directory: string; readonly store: VolumeDirectories } {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-volumes-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return { directory, store: new VolumeDirectories(directory) };
}

test('VO1: a volume is seen when it is published, and keeps what is in it', (t) => {
  const { store } = newStore(t);
  store.prepare(name);
  store.prepare(name);
  assert.deepEqual(store.prepared(), [name]);
  assert.ok(!existsSync(store.pathOf(name)));
  store.publish(name);
  writeFileSync(join(store.pathOf(name), 'data'), 'kept');
  store.prepare(name);
  store.publish(name);
  assert.deepEqual(store.prepared(), []);
  assert.deepEqual(readdirSync(store.pathOf(name)), ['data']);
});

test('VO1: programs of any user may write to a volume, and users of the machine cannot reach it', (t) => {
  const { directory, store } = newStore(t);
  store.prepare(name);
  store.publish(name);
  assert.equal(statSync(store.pathOf(name)).mode & 0o777, 0o777);
  assert.equal(statSync(join(directory, 'volumes')).mode & 0o777, 0o700);
});

test('VO3: a volume is removed with all that is in it, prepared or published, and also when a removal was stopped', async (t) => {
  const { directory, store } = newStore(t);
  store.prepare(name);
  await store.remove(name);
  assert.deepEqual(store.prepared(), []);
  store.prepare(name);
  store.publish(name);
  mkdirSync(join(store.pathOf(name), 'a/b'), { recursive: true });
  await store.remove(name);
  await store.remove(name);
  mkdirSync(join(directory, 'volumes/.removed', name, 'rest'), { recursive: true });
  await store.completeRemovals();
  assert.deepEqual(readdirSync(join(directory, 'volumes')).sort(), ['.prepared', '.removed']);
  assert.deepEqual(readdirSync(join(directory, 'volumes/.removed')), []);
});

test('VO3: what a link in a volume leads to stays', async (t) => {
  const { directory, store } = newStore(t);
  mkdirSync(join(directory, 'outside/precious'), { recursive: true });
  store.prepare(name);
  store.publish(name);
  symlinkSync(join(directory, 'outside'), join(store.pathOf(name), 'link'));
  await store.remove(name);
  assert.ok(existsSync(join(directory, 'outside/precious')));
});

test('VO3: nothing but a volume that was made here is removed', async (t) => {
  const { directory, store } = newStore(t);
  mkdirSync(join(directory, 'volumes'), { recursive: true });
  symlinkSync(directory, store.pathOf(name));
  await assert.rejects(store.remove(name), /is not a directory/);
  for (const other of ['..', '../pods', '/etc', 'data', `${name}/..`, '.removed']) {
    await assert.rejects(store.remove(other), /is not the name of a volume that was made here/, other);
  }
});
