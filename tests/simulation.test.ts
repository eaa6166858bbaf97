import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etcdUnderFaults } from './simulation/etcd-scenario.js';

test('etcd clusters under drawn faults never split, never lose quorum by our step nor what was acknowledged, and settle', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const cluster = await etcdUnderFaults(seed, `npm run sim -- --scenario etcd --seeds 1 --seed ${seed}`);
    await cluster.stop();
  }
});

test('the same seed gives the same history of an etcd cluster under faults', async () => {
  const histories: string[] = [];
  for (let run = 0; run < 2; run++) {
    const cluster = await etcdUnderFaults(3, '');
    histories.push(cluster.historyText());
    await cluster.stop();
  }
  assert.equal(histories[0], histories[1]);
});
