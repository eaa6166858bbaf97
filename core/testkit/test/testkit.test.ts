import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { loadKubeconfig } from '@castellan/client';
import { configMaps, serviceAccounts } from '@castellan/machinery';
import { DeadlineError } from '@castellan/world';
import { type BootedPlane, bootPlane, eventually } from '../src/index.js';

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
