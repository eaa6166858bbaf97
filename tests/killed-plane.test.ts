import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { configMaps } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import { etcdClusters, memberPods, seedManifest, waitForMembers } from './etcd-instance.js';
import { etcdProcessesOf } from './machine-state.js';
import { PlaneProcess, world } from './plane-process.js';

const kills = 20;
let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up();
});
after(async () => await plane.remove());

test('the operator killed at 6 moments of a bootstrap resumes it each time and makes one cluster', async () => {
  await plane.apply({ file: seedManifest });
  for (let kill = 0; kill < 6; kill += 1) {
    await world.clock.sleep(300 + world.random.next() * 1_500); // The moment of the kill, not a wait for anything.
    await plane.kill();
    await plane.up();
  }
  const client = await plane.client();
  await waitForMembers(client, 3, { deadlineMs: 120_000 });
  assert.equal((await memberPods(client)).length, 3);
});

test(`kill -9 of castellan up during writes, ${kills} times: acknowledged objects stay, etcd is not restarted`, async (context) => {
  const etcdBefore = etcdProcessesOf(plane.directory);
  assert.ok(etcdBefore.length > 0);
  const acknowledged: string[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const client = await plane.client();
    const enough = acknowledged.length + 5 + Math.floor(world.random.next() * 25);
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let number = 0; ; number += 1) {
        const name = `write-${kill}-${writer}-${number}`;
        try {
          await client.create(configMaps, { metadata: { namespace: 'default', name }, data: { name } });
          acknowledged.push(name);
        } catch {
          return; // The server is gone: this write was not acknowledged.
        }
      }
    });
    await waitFor(world, () => acknowledged.length >= enough, {
      what: () => `${enough} acknowledged writes, of which there are ${acknowledged.length}`,
      deadlineMs: 60_000,
      everyMs: 1,
    });
    await plane.kill();
    await Promise.all(writers);
    await plane.up();
    const present = new Set(
      (await (await plane.client()).list(configMaps, { namespace: 'default' })).items.map(
        ({ metadata }) => metadata.name,
      ),
    );
    assert.deepEqual(
      acknowledged.filter((name) => !present.has(name)),
      [],
      `lost after kill ${kill + 1}`,
    );
  }
  context.diagnostic(`${acknowledged.length} acknowledged writes, ${kills} kills, none lost`);
  const etcdAfter = etcdProcessesOf(plane.directory);
  assert.deepEqual(etcdAfter, etcdBefore, 'the same etcd processes, by pid');
  const instance = await waitForMembers(await plane.client(), 3, { deadlineMs: 90_000 });
  assert.equal(instance.spec.size, 3);
  assert.equal((await (await plane.client()).list(etcdClusters)).items.length, 1);
});
