import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  CountingWriter,
  callEtcd,
  clusterKey,
  etcdClusters,
  keysUnder,
  memberPods,
  put,
  seedManifest,
  waitForMembers,
} from './etcd-instance.js';
import { PlaneProcess } from './plane-process.js';

let plane: PlaneProcess;

before(async () => {
  plane = await PlaneProcess.create();
  await plane.up();
});
after(async () => await plane.remove());

test("the seed's manifest gives three real etcd members that serve each other's writes", async () => {
  const applied = await plane.kubectl(['apply', '-f', seedManifest]);
  assert.equal(applied.code, 0, applied.stderr);
  const client = await plane.client();
  const instance = await waitForMembers(client, 3);
  assert.match(instance.status?.clusterID ?? '', /^[0-9a-f]+$/);
  assert.notEqual(instance.status?.currentVersion, undefined, 'the true version is in status');

  const pods = await memberPods(client);
  assert.equal(pods.length, 3);
  const [first, second, third] = pods.map(({ status }) => status?.podIP ?? '');
  await put(first ?? '', 'written/at-the-first', 'x');
  for (const address of [second, third]) {
    assert.deepEqual([...(await keysUnder(address ?? '', 'written/'))], ['written/at-the-first']);
  }
  const members = await callEtcd(first ?? '', '/v3/cluster/member/list', {});
  assert.ok(Array.isArray(members.members));
  assert.deepEqual(
    members.members.map(({ name }: { name: string }) => name).sort(),
    pods.map(({ metadata }) => metadata.name ?? '').sort(),
  );
});

test('3 → 5 → 3 under a writer that counts: no acknowledged write is lost', async () => {
  const client = await plane.client();
  const writer = new CountingWriter(client);
  for (const size of [5, 3]) {
    await client.patch(etcdClusters, clusterKey, { type: 'merge', body: { spec: { size } } });
    await waitForMembers(client, size, { deadlineMs: 120_000 });
  }
  await writer.stop();
  assert.ok(writer.acknowledged.length > 100, `only ${writer.acknowledged.length} writes were acknowledged`);
  assert.ok(writer.longestGapMs < 5_000, `no write was acknowledged for ${Math.round(writer.longestGapMs)} ms`);
  for (const pod of await memberPods(client)) {
    const present = await keysUnder(pod.status?.podIP ?? '', 'counted/');
    const lost = writer.acknowledged.filter((key) => !present.has(key));
    assert.deepEqual(lost, [], `lost at ${pod.metadata.name}`);
  }
});

test('deleting the instance removes its pods, services and processes', async () => {
  const client = await plane.client();
  const deleted = await plane.kubectl(['delete', 'etcd', clusterKey.name, '--wait=true', '--timeout=30s']);
  assert.equal(deleted.code, 0, deleted.stderr);
  const waited = await plane.kubectl([
    'wait',
    '--for=delete',
    'pod',
    '-l',
    `etcd_cluster=${clusterKey.name}`,
    '--timeout=40s',
  ]);
  assert.equal(waited.code, 0, waited.stderr);
  assert.deepEqual(await memberPods(client), []);
  const services = await plane.kubectl(['get', 'services', '-o', 'name']);
  assert.equal(services.stdout.trim(), 'service/kubernetes');
});
