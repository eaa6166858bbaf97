import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { noEtcd } from './etcd-processes.js';
import { LoopbackPlane } from './loopback-plane.js';

// An etcd that is killed as it first starts may leave a log without the entry that makes it a member. Started again it
// opens its ports, has no members, and never answers: not even its liveness probe's restarts would help.

let plane: LoopbackPlane;
before(() => {
  plane = new LoopbackPlane();
});
after(() => plane.stop());

test('a seed that was killed as it first started is discarded, and its successor forms the cluster', {
  skip: noEtcd,
}, async () => {
  plane.apply({ size: 1, version: '3.4.23' });
  await plane.waitUntil('the seed', 30_000, () => plane.podNames.length === 1);
  const [seed = ''] = plane.podNames;
  const uid = plane.uidOf(seed);
  await plane.cutShort(seed);
  await plane.waitUntil('the cluster to form after all', 120_000, plane.isAvailable(1));
  assert.notEqual(plane.uidOf(seed), uid);
  const discarded = plane.events.filter(({ reason }) => reason === 'SeedDiscarded').map(({ message }) => message);
  assert.deepEqual(discarded, [
    `Discard the seed ${seed}: the seed did not form a cluster (etcd runs and does not answer yet) and is made anew`,
  ]);
});
