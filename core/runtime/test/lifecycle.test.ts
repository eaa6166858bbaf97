import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { type ConfigMap, configMaps, leases, StatusError, secrets } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import { type Controller, createLog, createManager, type ManagerOptions, watchSource } from '../src/index.js';
import { FakeCluster } from './fake-cluster.js';

function controllerOf(reconcile: Controller<ConfigMap>['reconcile'], name = 'test'): Controller<ConfigMap> {
  return { name, for: configMaps, reconcile };
}

const idle = controllerOf(async () => undefined);

function managerOf(world: SimulatedWorld, client: FakeCluster, options: Partial<ManagerOptions> = {}) {
  const lines: string[] = [];
  const log = createLog({ write: (line) => lines.push(line), world, format: 'human' });
  const manager = createManager({ wholeCache: true, world, client, log, controllers: [idle], ...options });
  const stop = new AbortController();
  return {
    manager,
    lines,
    stop: () => stop.abort(new Error('stop')),
    run() {
      const ended = manager.run(stop.signal);
      ended.catch(() => undefined);
      return ended;
    },
  };
}

test('63: a kind that may not be read within the deadline is an error that names it', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  client.intercept = (call) => {
    if (/^(LIST|WATCH) secrets/.test(call)) throw StatusError.of('Forbidden', 'secrets is forbidden');
  };
  const { manager, run } = managerOf(world, client, { controllers: [{ ...idle, owns: [secrets] }] });
  const ended = run();
  await assert.rejects(world.run(ended, 200_000), /the first list of secrets did not come within 120 s/);
  await assert.rejects(manager.ready(), /the first list of secrets/);
  assert.deepEqual(client.openWatches, []);
  assert.equal(world.pendingTimers, 0);
});

test('K2: a controller waits for a kind that is missing while others work, begins when it is there, and rests when it goes', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const runs: string[] = [];
  const noting = (name: string) => controllerOf(async (key) => void runs.push(`${name} ${key.name}`), name);
  const missing = (call: string): void => {
    if (/^(LIST|WATCH) secrets/.test(call)) throw StatusError.of('NotFound', 'the server could not find the resource');
  };
  client.intercept = missing;
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  const controllers = [
    noting('other'),
    { ...noting('waiting'), owns: [secrets] },
    { ...idle, name: 'third', for: secrets },
  ];
  const { manager, run, stop, lines } = managerOf(world, client, { controllers });
  const ended = run();
  await world.advance(300_000);
  assert.deepEqual([runs, manager.status().isReady], [['other a'], true]);
  assert.equal(lines.filter((line) => line.includes('secrets is not served: waiting until it is')).length, 1);
  client.intercept = () => undefined;
  await world.advance(15_000);
  assert.deepEqual(runs, ['other a', 'waiting a']);
  await client.create(secrets, { metadata: { namespace: 'default', name: 's' } });
  await world.advance(0);
  const third = () => manager.status().controllers.find(({ name }) => name === 'third');
  assert.deepEqual([third()?.reconciles, third()?.keys.length], [1, 1]);
  client.intercept = missing;
  client.cutWatches();
  await world.advance(60_000);
  assert.deepEqual([third()?.failures, third()?.keys.length], [0, 0], 'what was known of its objects is gone');
  stop();
  await world.run(ended, 5_000);
  assert.equal(world.pendingTimers, 0);
});

test('63: stopping while the caches fill is no error', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  client.intercept = (call) => {
    if (/^(LIST|WATCH)/.test(call)) throw StatusError.of('ServiceUnavailable', 'not yet');
  };
  const { manager, run, stop } = managerOf(world, client);
  const ended = run();
  await world.advance(10_000);
  stop();
  await world.run(ended, 1_000);
  await assert.rejects(manager.ready(), /stopped before its caches were complete/);
});

test('70: a manager runs once', async () => {
  const world = simulatedWorld(1);
  const { manager, run, stop } = managerOf(world, new FakeCluster());
  const ended = run();
  await assert.rejects(manager.run(new AbortController().signal), /was started before/);
  stop();
  await world.run(ended, 1_000);
});

test('72, 76: a stop tells reconciles, waits for them, then writes events, then ends the watches', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const order: string[] = [];
  const { run, stop } = managerOf(world, client, {
    controllers: [
      controllerOf(async (_key, { signal, events, cache }) => {
        const object = cache.get(configMaps, { namespace: 'default', name: 'a' });
        await world.clock.sleep(20_000, signal).catch(() => order.push('told'));
        await world.clock.sleep(3_000);
        order.push(`ended, ${client.openWatches.length} watch open`);
        if (object !== undefined) events.record(object, { type: 'Normal', reason: 'Stopped', message: 'stopped' });
        return undefined;
      }),
    ],
  });
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  const ended = run();
  await world.advance(1_000);
  client.intercept = (call) => {
    if (call.includes('/events/')) order.push('event written');
  };
  stop();
  await world.run(ended, 5_000);
  assert.deepEqual(order, ['told', 'ended, 1 watch open', 'event written']);
  assert.deepEqual(client.openWatches, []);
});

test('76: a reconcile that does not end is left behind after 30 s, and named', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  const never = controllerOf(() => new Promise(() => undefined), 'stubborn');
  const { run, stop, lines } = managerOf(world, client, { controllers: [never] });
  const ended = run();
  await world.advance(1_000);
  const stoppedMs = world.clock.monotonicNow();
  stop();
  await world.run(ended, 40_000);
  assert.equal(world.clock.monotonicNow() - stoppedMs, 30_000);
  assert.match(lines.join('\n'), /reconciles of stubborn do not end/);
});

const lease = { namespace: 'default', name: 'lead' };

function candidate(world: SimulatedWorld, client: FakeCluster, identity: string) {
  return managerOf(world, client, { leaderElection: { ...lease, identity } });
}

test('74: when one part fails all of them stop, and what else fails meanwhile is reported with it', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  const { manager, run } = managerOf(world, client, {
    controllers: [controllerOf(idle.reconcile, 'one'), controllerOf(idle.reconcile, 'two')],
    observer: {
      around: async ({ controller }) => {
        throw new Error(`the trace of ${controller} is full`);
      },
    },
  });
  const ended = run();
  await assert.rejects(world.run(ended, 60_000), (error) => {
    assert.ok(error instanceof AggregateError);
    assert.deepEqual(
      error.errors.map(({ message }) => message),
      ['the trace of one is full', 'the trace of two is full'],
    );
    return true;
  });
  assert.equal(manager.status().isLeader, false);
  assert.deepEqual(client.openWatches, []);
});

test('75: a manager that stops takes no more sources', async () => {
  const world = simulatedWorld(1);
  const { manager, run, stop } = managerOf(world, new FakeCluster());
  const ended = run();
  await world.advance(0);
  const source = watchSource({ type: secrets, map: () => [] });
  stop();
  assert.throws(() => manager.addSource('test', source), /this manager is stopping: it takes no source for test/);
  await world.run(ended, 60_000);
  assert.throws(() => manager.addSource('test', source), /is stopping/);
});

test('77: after a stop no watch, timer or listener is left, with a leader, events and several controllers', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  const noting = controllerOf(async (key, { cache, events }) => {
    const object = cache.get(configMaps, key);
    if (object !== undefined) events.record(object, { type: 'Normal', reason: 'Seen', message: 'it was seen' });
    return { requeueAfterMs: 60_000 };
  }, 'noting');
  const log = createLog({ write: () => undefined, world });
  const manager = createManager({
    wholeCache: true,
    world,
    client,
    log,
    controllers: [noting, { ...idle, owns: [secrets] }],
    leaderElection: { name: 'test', namespace: 'default', identity: 'me' },
  });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await world.advance(30_000);
  assert.equal(manager.status().isLeader, true);
  stop.abort(new Error('stop'));
  await world.run(ended, 60_000);
  assert.deepEqual(client.openWatches, []);
  assert.equal(world.pendingTimers, 0);
  assert.deepEqual(getEventListeners(stop.signal, 'abort'), []);
});

test('78: takes a lease that is absent, or given up; the other keeps its caches warm meanwhile', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const first = candidate(world, client, 'first');
  const second = candidate(world, client, 'second');
  const firstEnded = first.run();
  await world.advance(0);
  const secondEnded = second.run();
  await world.advance(5_000);
  assert.deepEqual([first.manager.status().isLeader, second.manager.status().isLeader], [true, false]);
  assert.equal(second.manager.status().isReady, true);
  first.stop();
  await world.run(firstEnded, 5_000);
  assert.equal((await client.get(leases, lease)).spec?.holderIdentity, '');
  await world.advance(3_000);
  assert.equal(second.manager.status().isLeader, true);
  second.stop();
  await world.run(secondEnded, 5_000);
  assert.equal(world.pendingTimers, 0);
});

test('78, 79, 81: a lease of a silent holder is taken when it was seen unchanged for its duration, by our own clock', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const past = '2001-01-01T00:00:00.000000Z';
  const spec = {
    holderIdentity: 'dead',
    leaseDurationSeconds: 15,
    renewTime: past,
    acquireTime: past,
    leaseTransitions: 4,
  };
  await client.create(leases, { metadata: lease, spec });
  const { manager, run, stop } = candidate(world, client, 'heir');
  const ended = run();
  await world.advance(14_000);
  assert.equal(manager.status().isLeader, false, 'its old renew time is of another clock and means nothing');
  await world.advance(5_000);
  assert.equal(manager.status().isLeader, true);
  await world.advance(20_000);
  const taken = await client.get(leases, lease);
  assert.deepEqual([taken.spec?.holderIdentity, taken.spec?.leaseTransitions], ['heir', 5]);
  stop();
  await world.run(ended, 5_000);
});

test('79: a live lease is never taken', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const first = candidate(world, client, 'first');
  const second = candidate(world, client, 'second');
  const firstEnded = first.run();
  await world.advance(0);
  const secondEnded = second.run();
  await world.advance(600_000);
  assert.deepEqual([first.manager.status().isLeader, second.manager.status().isLeader], [true, false]);
  assert.equal((await client.get(leases, lease)).spec?.leaseTransitions, 0);
  first.stop();
  second.stop();
  await world.run(Promise.all([firstEnded, secondEnded]), 5_000);
});

test('80: a renewal writes without reading, and reads after a conflict', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const { manager, run, stop } = candidate(world, client, 'only');
  const ended = run();
  await world.advance(0);
  const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/lead';
  const reads = client.requests(`GET ${path}`).length;
  await world.advance(10_000);
  assert.equal(client.requests(`GET ${path}`).length, reads);
  assert.ok(client.requests(`PUT ${path}`).length >= 4);
  await client.patch(leases, lease, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
  await world.advance(3_000);
  assert.equal(client.requests(`GET ${path}`).length, reads + 1);
  assert.equal(manager.status().isLeader, true);
  stop();
  await world.run(ended, 5_000);
});

test('73, 82: a leader that cannot renew stops its work within the renew deadline and fails, once', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const { manager, run } = candidate(world, client, 'only');
  const ended = run();
  await world.advance(1_000);
  assert.equal(manager.status().isLeader, true);
  client.intercept = (call) => {
    if (call.includes('/leases/')) throw StatusError.of('InternalError', 'no quorum');
  };
  await world.advance(12_100);
  assert.equal(manager.status().isLeader, false);
  await assert.rejects(world.run(ended, 10_000), { name: 'LeadershipLostError', message: /not be renewed for 10 s/ });
  assert.equal(world.pendingTimers, 0);
});

test('73: a leader whose lease another took stops at once, and leaves the lease alone', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const { run } = candidate(world, client, 'only');
  const ended = run();
  await world.advance(1_000);
  await client.patch(leases, lease, { type: 'merge', body: { spec: { holderIdentity: 'usurper' } } });
  await assert.rejects(world.run(ended, 5_000), /the lease is held by usurper/);
  assert.equal((await client.get(leases, lease)).spec?.holderIdentity, 'usurper');
});

test('83: giving the lease up is tried again after a conflict', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  const { run, stop } = candidate(world, client, 'only');
  const ended = run();
  await world.advance(1_000);
  let conflicts = 2;
  client.intercept = (call) => {
    if (!call.startsWith('PUT') || conflicts === 0) return;
    conflicts -= 1;
    throw StatusError.of('Conflict', 'changed meanwhile');
  };
  stop();
  await world.run(ended, 5_000);
  assert.equal((await client.get(leases, lease)).spec?.holderIdentity, '');
});

test('84: times that cannot work are refused', async () => {
  const world = simulatedWorld(1);
  const leaderElection = { ...lease, identity: 'x', leaseMs: 10_000, renewMs: 10_000 };
  const { run } = managerOf(world, new FakeCluster(), { leaderElection });
  await assert.rejects(world.run(run(), 1_000), /leaseMs \(10000\) must be more than renewMs/);
});

test('85: a leader that was suspended, and so has not renewed and not stopped, is not healthy', async () => {
  const simulated = simulatedWorld(1);
  let suspendedMs = 0;
  const { clock } = simulated;
  const world = {
    random: simulated.random,
    clock: {
      now: clock.now,
      after: clock.after,
      sleep: clock.sleep,
      monotonicNow: () => clock.monotonicNow() + suspendedMs,
    },
  };
  const client = new FakeCluster();
  const log = createLog({ write: () => undefined, world });
  const leaderElection = { name: 'test', namespace: 'default', identity: 'me' };
  const manager = createManager({ world, client, log, controllers: [idle], leaderElection, wholeCache: true });
  const stop = new AbortController();
  const ended = manager.run(stop.signal);
  await simulated.advance(5_000);
  assert.equal(manager.status().isLeader, true);
  assert.equal(manager.health(), undefined);
  suspendedMs = 60_000;
  assert.match(manager.health() ?? '', /^the lease test was last renewed 6\d s ago$/);
  stop.abort(new Error('stop'));
  await simulated.run(ended, 60_000);
  assert.equal(manager.health(), undefined);
});

test('two managers in one process share nothing and both work', async () => {
  const world = simulatedWorld(1);
  const client = new FakeCluster();
  await client.create(configMaps, { metadata: { namespace: 'default', name: 'a' } });
  const seen: string[] = [];
  const one = managerOf(world, client, { controllers: [controllerOf(async () => void seen.push('one'))] });
  const two = managerOf(world, client, { controllers: [controllerOf(async () => void seen.push('two'))] });
  const ended = Promise.all([one.run(), two.run()]);
  await world.advance(0);
  assert.deepEqual(seen.sort(), ['one', 'two']);
  one.stop();
  two.stop();
  await world.run(ended, 1_000);
});
