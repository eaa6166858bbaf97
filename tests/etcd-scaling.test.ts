import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { pods, services } from '@castellan/machinery';
import { waitFor } from '@castellan/world';
import {
  CountingWriter,
  callEtcd,
  clusterKey,
  etcdClusters,
  keysUnder,
  memberPods,
  membersOutOfReach,
  put,
  seedManifest,
  waitForMembers,
} from './etcd-instance.js';
import { etcdProcessesOf } from './machine-state.js';
import { castellan, PlaneProcess, world } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up();
});
after(async () => await plane.remove());

test("the seed's manifest gives three real etcd members that serve each other's writes", {
  skip: membersOutOfReach,
}, async () => {
  await plane.apply({ file: seedManifest });
  const client = await plane.client();
  const instance = await waitForMembers(client, 3);
  assert.match(instance.status?.clusterID ?? '', /^[0-9a-f]+$/);
  assert.notEqual(instance.status?.currentVersion, undefined, 'the true version is in status');

  const members = await memberPods(client);
  assert.equal(members.length, 3);
  const [first, second, third] = members.map(({ status }) => status?.podIP ?? '');
  await put(first ?? '', 'written/at-the-first', 'x');
  for (const address of [second, third]) {
    assert.deepEqual([...(await keysUnder(address ?? '', 'written/'))], ['written/at-the-first']);
  }
  const listed = await callEtcd(first ?? '', '/v3/cluster/member/list', {});
  assert.ok(Array.isArray(listed.members));
  assert.deepEqual(
    listed.members.map(({ name }: { name: string }) => name).sort(),
    members.map(({ metadata }) => metadata.name ?? '').sort(),
  );
});

test('castellan explain says why the instance was looked at last, what was decided, and when it is looked at next', {
  skip: membersOutOfReach,
}, async () => {
  const { name } = clusterKey;
  const { code, stdout } = await castellan(['explain', `etcdcluster/${name}`, '--data-dir', plane.directory]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, new RegExp(`^EtcdCluster default/${name}  by etcd$`, 'm'));
  assert.match(stdout, /^ {2}settled {2}3 members, all voting and healthy$/m);
  assert.match(stdout, /^ {2}because {2}\S/m);
  assert.match(stdout, /^ {2}next {5}5000 ms after that/m);
  const unknown = await castellan(['explain', 'flowers/rose', '--data-dir', plane.directory]);
  assert.equal(unknown.code, 3);
  assert.match(unknown.stderr, /No controller here reconciles a flowers/);
});

test('3 → 5 → 3 under a writer that counts: no acknowledged write is lost', { skip: membersOutOfReach }, async (t) => {
  const client = await plane.client();
  const writer = new CountingWriter(client);
  t.after(() => writer.stop());
  for (const size of [5, 3]) {
    await client.patch(etcdClusters, clusterKey, { type: 'merge', body: { spec: { size } } });
    await waitForMembers(client, size, { deadlineMs: 120_000 });
  }
  await writer.stop();
  assert.ok(writer.acknowledged.length > 100, `only ${writer.acknowledged.length} writes were acknowledged`);
  // No election takes as long, on a slow machine neither; a cluster that lost its quorum does.
  assert.ok(writer.longestGapMs < 20_000, `no write was acknowledged for ${Math.round(writer.longestGapMs)} ms`);
  for (const pod of await memberPods(client)) {
    const present = await keysUnder(pod.status?.podIP ?? '', 'counted/');
    const lost = writer.acknowledged.filter((key) => !present.has(key));
    assert.deepEqual(lost, [], `lost at ${pod.metadata.name}`);
  }
});

test('deleting the instance removes its pods, services and processes', { skip: membersOutOfReach }, async () => {
  const client = await plane.client();
  await client.delete(etcdClusters, clusterKey);
  const left = async () => (await client.list(pods, { namespace: 'default' })).items.length;
  await waitFor(world, async () => (await left()) === 0, { what: 'its pods to be gone', deadlineMs: 90_000 });
  assert.equal(await client.find(etcdClusters, clusterKey), undefined);
  const names = (await client.list(services, { namespace: 'default' })).items.map(({ metadata }) => metadata.name);
  assert.deepEqual(names, ['kubernetes']);
  assert.deepEqual(etcdProcessesOf(plane.directory), []);
});
