import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, StatusError } from '@castellan/machinery';
import { simulatedWorld } from '@castellan/world';
import { createFleet, createLog } from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

function fleetOf(seed: number) {
  const world = simulatedWorld(seed);
  const runs: string[] = [];
  const lines: string[] = [];
  const fleet = createFleet({
    world,
    log: createLog({ world, format: 'human', write: (line) => lines.push(line) }),
    wholeCache: true,
    syncDeadlineMs: 10_000,
    controllers: ({ name }) => [
      {
        name: 'noter',
        for: configMaps,
        reconcile: async (key) => {
          runs.push(`${name}: ${key.name}`);
          return undefined;
        },
      },
    ],
  });
  const stop = new AbortController();
  const ended = fleet.run(stop.signal);
  const end = async () => {
    stop.abort(new Error('stop'));
    await world.run(ended, 60_000);
  };
  return { world, fleet, runs, lines, end };
}

async function clusterWith(name: string): Promise<FakeCluster> {
  const cluster = new FakeCluster();
  await cluster.create(configMaps, { metadata: { namespace: 'default', name } });
  return cluster;
}

test('one program works on several clusters, which come and go', async () => {
  const { world, fleet, runs, end } = fleetOf(1);
  const [east, west] = [await clusterWith('a'), await clusterWith('b')];
  fleet.engage({ name: 'east', client: east });
  await world.advance(1_000);
  fleet.engage({ name: 'west', client: west });
  await world.advance(1_000);
  assert.deepEqual(runs, ['east: a', 'west: b']);
  assert.throws(() => fleet.engage({ name: 'west', client: west }), /has a cluster west/);
  await world.run(fleet.disengage('east'), 60_000);
  assert.deepEqual(east.openWatches, []);
  await east.create(configMaps, { metadata: { namespace: 'default', name: 'c' } });
  await west.create(configMaps, { metadata: { namespace: 'default', name: 'd' } });
  await world.advance(1_000);
  assert.deepEqual(runs.slice(2), ['west: d']);
  assert.deepEqual([...fleet.managers().keys()], ['west']);
  await end();
  assert.equal(world.pendingTimers, 0, '77: no timer is left');
});

test('a cluster that fails is begun anew, and the others do not notice', async () => {
  const { world, fleet, runs, lines, end } = fleetOf(2);
  const [bad, good] = [await clusterWith('a'), await clusterWith('b')];
  let isAway = true;
  bad.intercept = () => {
    if (isAway) throw StatusError.of('Forbidden', 'not yet');
  };
  fleet.engage({ name: 'bad', client: bad });
  fleet.engage({ name: 'good', client: good });
  await world.advance(15_000);
  assert.deepEqual(runs, ['good: b']);
  assert.ok(lines.some((line) => line.includes('the work on cluster bad failed and is begun anew')));
  isAway = false;
  await world.advance(60_000);
  assert.deepEqual(runs, ['good: b', 'bad: a']);
  await end();
});
