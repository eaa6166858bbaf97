import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { loadKubeconfig } from '@castellan/client';
import { configMaps, isStatusError, serviceAccounts } from '@castellan/machinery';
import { DeadlineError } from '@castellan/world';
import { type BootedPlane, bootPlane, CrashError, eventually, faultyClient } from '../src/index.js';

const key = { namespace: 'default', name: 'a' };

async function withPlane(use: (plane: BootedPlane) => Promise<void>): Promise<void> {
  const plane = await bootPlane();
  try {
    await use(plane);
  } finally {
    await plane.stop();
  }
}

test('a booted plane serves, its controllers work, and stop leaves nothing on disk', async () => {
  let kubeconfigPath = '';
  await withPlane(async (plane) => {
    kubeconfigPath = plane.kubeconfigPath;
    assert.equal((await loadKubeconfig(kubeconfigPath)).server, plane.url);
    const account = { namespace: 'default', name: 'default' };
    await eventually('the default account', () => plane.client.find(serviceAccounts, account), { deadlineMs: 30_000 });
  });
  await assert.rejects(access(dirname(kubeconfigPath)), { code: 'ENOENT' });
});

test('two planes at once know nothing of each other', async () => {
  await withPlane(async (one) => {
    await withPlane(async (two) => {
      await one.client.create(configMaps, { metadata: key });
      assert.equal(await two.client.find(configMaps, key), undefined);
    });
  });
});

test('a faulty client crashes before the write that it is told, and stays dead', async () => {
  await withPlane(async ({ client }) => {
    const faulty = faultyClient(client, { crashAfterWrites: 1 });
    await faulty.create(configMaps, { metadata: key });
    await assert.rejects(faulty.delete(configMaps, key), CrashError);
    await assert.rejects(faulty.get(configMaps, key), CrashError);
    assert.deepEqual([faulty.writes, faulty.isCrashed], [['create configmaps default/a'], true]);
    assert.notEqual(await client.find(configMaps, key), undefined, 'the deletion was not made');
  });
});

test('a faulty client shows what was before the last write, as often as it is told', async () => {
  await withPlane(async ({ client }) => {
    const faulty = faultyClient(client, { staleReads: 1 });
    assert.equal(await faulty.find(configMaps, key), undefined);
    await faulty.create(configMaps, { metadata: key });
    assert.equal(await faulty.find(configMaps, key), undefined);
    assert.notEqual(await faulty.find(configMaps, key), undefined);
  });
});

test('a faulty client refuses the first writes with a conflict and does not make them', async () => {
  await withPlane(async ({ client }) => {
    const faulty = faultyClient(client, { conflicts: 1 });
    const map = await faulty.create(configMaps, { metadata: key });
    const changed = { ...map, data: { a: '1' } };
    await assert.rejects(faulty.update(configMaps, changed), (error) => isStatusError(error, 'Conflict'));
    assert.equal((await client.get(configMaps, key)).data, undefined);
    assert.equal((await faulty.update(configMaps, changed)).data?.a, '1');
  });
});

test('eventually gives what it found, and says what it waited for and why it was not so', async () => {
  let looks = 0;
  assert.equal(
    await eventually('a third look', () => ++looks === 3 && 'found', { deadlineMs: 30_000, everyMs: 1 }),
    'found',
  );
  const look = () => assert.equal(1, 2, 'one is not two');
  await assert.rejects(
    eventually('equality', async () => look(), { deadlineMs: 20, everyMs: 1 }),
    (error) => {
      assert.ok(error instanceof DeadlineError);
      assert.match(error.message, /waited 0\.02 s for equality \(last: one is not two\)/);
      return true;
    },
  );
});
