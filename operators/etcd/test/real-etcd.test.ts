import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { etcdAdmin } from '../src/index.js';
import { CountingWriter } from './counting-writer.js';
import { noEtcd } from './etcd-processes.js';
import { LoopbackPlane } from './loopback-plane.js';

const admin = etcdAdmin();
let plane: LoopbackPlane;
let formedClusterId: string | undefined;
before(() => {
  plane = new LoopbackPlane();
});
after(() => plane.stop());

test('three real members form one cluster, and each serves what another took', { skip: noEtcd }, async () => {
  plane.apply({ size: 3, version: '3.4.23' });
  await plane.waitUntil('three members', 60_000, plane.isAvailable(3));
  const [first, second, third] = plane.endpoints;
  await admin.put(first ?? '', 'greeting', 'hello');
  assert.equal(await admin.get(second ?? '', 'greeting'), 'hello');
  assert.equal(await admin.get(third ?? '', 'greeting'), 'hello');
  const { status } = plane.object;
  formedClusterId = status?.clusterID;
  assert.equal(status?.phase, 'Running');
  assert.equal(status?.currentVersion, '3.4.23');
  assert.deepEqual(status?.memberDetails?.map(({ role }) => role).toSorted(), ['leader', 'voter', 'voter']);
  assert.deepEqual(
    plane.events.filter(({ reason }) => reason === 'New Member Added').length,
    2,
    'the seed forms the cluster, the two others are promoted',
  );
});

test('the seed, emptied and restarted, is replaced by a new member and never forms a cluster again (E1)', {
  skip: noEtcd,
}, async () => {
  const seed = plane.events.find(({ reason }) => reason === 'SeedCreated')?.message.match(/demo-\w+/)?.[0] ?? '';
  await plane.wipeAndCrash(seed);
  await plane.waitUntil('the seed to be replaced', 60_000, (object) => {
    const isReplaced = object.status?.members?.ready?.includes(seed) === false;
    return isReplaced && plane.isAvailable(3)(object);
  });
  assert.equal(plane.object.status?.clusterID, formedClusterId);
  for (const endpoint of plane.endpoints) {
    assert.equal((await admin.members(endpoint)).clusterId, formedClusterId);
    assert.equal(await admin.get(endpoint, 'greeting'), 'hello');
  }
});

test('3 → 5 → 3 members lose no acknowledged write, though the operator is replaced on the way', {
  skip: noEtcd,
}, async (t) => {
  const writer = new CountingWriter(() => plane.endpoints);
  t.after(() => writer.stop());
  plane.apply({ size: 5, version: '3.4.23' });
  await plane.waitUntil('a fourth member', 60_000, ({ status }) => status?.size === 4);
  plane.restartOperator();
  await plane.waitUntil('five members', 60_000, plane.isAvailable(5));
  plane.apply({ size: 3, version: '3.4.23' });
  await plane.waitUntil('a fourth member less', 60_000, ({ status }) => status?.size === 4);
  plane.restartOperator();
  await plane.waitUntil('three members', 60_000, plane.isAvailable(3));
  const { acknowledged, longestGapMs } = await writer.stop();
  assert.ok(acknowledged.length > 100, `only ${acknowledged.length} writes in all`);
  // No election takes as long, on a slow machine neither; a cluster that lost its quorum does.
  assert.ok(longestGapMs < 20_000, `no write was taken for ${longestGapMs} ms: quorum was lost`);
  const [endpoint = ''] = plane.endpoints;
  for (const key of acknowledged)
    assert.equal(await admin.get(endpoint, key), key, `${key} was acknowledged and is lost`);
});

test('a leader that is killed comes back in place, and is not replaced', { skip: noEtcd }, async () => {
  const before = plane.podNames.toSorted();
  const leader = plane.object.status?.leader ?? '';
  await plane.crash(leader);
  assert.equal(plane.isReady(leader), false);
  await plane.waitUntil('the leader to be ready again', 60_000, () => plane.isReady(leader));
  await plane.waitUntil('all members back', 60_000, plane.isAvailable(3));
  assert.deepEqual(plane.podNames.toSorted(), before);
});

test('a pod that is gone is replaced, and the cluster is whole again', { skip: noEtcd }, async () => {
  const [victim = ''] = plane.podNames;
  plane.killPod(victim);
  const isReplaced = (ready: readonly string[] = []) => !ready.includes(victim);
  await plane.waitUntil('the pod to be replaced', 60_000, (object) => {
    return isReplaced(object.status?.members?.ready) && plane.isAvailable(3)(object);
  });
  assert.ok(plane.events.some(({ reason, message }) => reason === 'Replacing Dead Member' && message.includes(victim)));
});

test('with every pod gone the status says so and what to do, and nothing is made', { skip: noEtcd }, async () => {
  for (const name of plane.podNames) plane.killPod(name);
  await plane.waitUntil('phase Failed', 60_000, ({ status }) => status?.phase === 'Failed');
  const { status } = plane.object;
  assert.match(status?.reason ?? '', /gone.*restore the cluster from a backup/);
  assert.equal(status?.conditions?.find(({ type }) => type === 'QuorumLost')?.status, 'True');
  assert.deepEqual(plane.podNames, []);
});
