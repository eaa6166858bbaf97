import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConditionTrue, pods } from '@castellan/machinery';
import { testCluster } from '@castellan/testkit';
import { memcacheds } from '../src/kind.js';
import { memcachedOperator } from '../src/operator.js';

// A real API server, real controllers and simulated nodes, in this process, in simulated time. A seed that fails is
// printed, and repeats the run.
for (const seed of [1, 2, 3]) {
  test(`three pods come up, and survive the loss of one and a new image (seed ${seed})`, async () => {
    const cluster = await testCluster({ clock: 'virtual', seed, operators: [memcachedOperator] });
    try {
      const key = { namespace: 'default', name: 'demo' };
      const isSettled = (image: string) => () => {
        const demo = cluster.state.get(memcacheds, key);
        const isCurrent = demo?.status?.observedGeneration === demo?.metadata.generation;
        const images = cluster.state.list(pods).map(({ spec }) => spec?.containers[0]?.image);
        return (
          isCurrent && isConditionTrue(demo?.status?.conditions, 'Ready') && images.every((each) => each === image)
        );
      };
      await cluster.apply([memcacheds.make(key, { size: 3 })]);
      await cluster.runUntil('three pods to serve', isSettled('memcached:1.6'), 120_000);

      await cluster.client.delete(pods, { ...key, name: 'demo-1' });
      await cluster.advance(1_000);
      await cluster.runUntil('the lost pod to be made anew', isSettled('memcached:1.6'), 120_000);

      await cluster.apply([memcacheds.make(key, { size: 3, image: 'memcached:1.7' })]);
      await cluster.runUntil('the new image everywhere', isSettled('memcached:1.7'), 300_000);
      assert.equal(cluster.state.list(pods).length, 3);
    } finally {
      await cluster.stop();
    }
  });
}
