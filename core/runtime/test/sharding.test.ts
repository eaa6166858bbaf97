import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { configMaps, leases } from '@castellan/machinery';
import { type SimulatedWorld, simulatedWorld } from '@castellan/world';
import { type Controller, createLog, createManager, type Manager, ShardsLostError } from '../src/index.js';
import { rendezvous, shardOf } from '../src/sharding/rendezvous.js';
import { FakeCluster } from './fake-cluster.js';

const keys = 40;

/** Processes that share config maps. Each reconcile takes a second, so that two at once would be seen. */
class Group {
  readonly world: SimulatedWorld = simulatedWorld(11);
  readonly cluster = new FakeCluster();
  /** Who reconciles a key now. */
  readonly working = new Map<string, string>();
  readonly clashes: string[] = [];
  /** Who reconciled a key last. */
  readonly last = new Map<string, string>();
  readonly #cutOff = new Set<string>();
  readonly #t: TestContext;

  constructor(t: TestContext) {
    this.#t = t;
  }

  async create(): Promise<void> {
    for (let index = 0; index < keys; index++) {
      await this.cluster.create(configMaps, { metadata: { namespace: 'default', name: `m${index}` } });
    }
  }

  start(identity: string): { stop(): Promise<void>; readonly ended: Promise<void>; readonly manager: Manager } {
    const { world, cluster } = this;
    const controller: Controller = {
      name: 'shared',
      for: configMaps,
      concurrency: 20,
      reconcile: async ({ name }, { world: { clock } }) => {
        const other = this.working.get(name);
        if (other !== undefined) this.clashes.push(`${name}: ${other} and ${identity}`);
        this.working.set(name, identity);
        this.last.set(name, identity);
        await clock.sleep(1_000);
        this.working.delete(name);
        return { requeueAfterMs: 5_000 };
      },
    };
    const client = this.#clientOf(identity, cluster);
    const manager = createManager({
      client,
      world,
      log: createLog({ write: () => undefined, world }),
      controllers: [controller],
      wholeCache: true,
      sharding: { name: 'group', namespace: 'default', identity },
    });
    const stopping = new AbortController();
    const ended = manager.run(stopping.signal);
    ended.catch(() => undefined);
    const stop = async () => {
      stopping.abort(new Error('stop'));
      await world.run(
        ended.catch(() => undefined),
        120_000,
      );
    };
    this.#t.after(stop);
    return { stop, ended, manager };
  }

  /** From now on no request of this process arrives. */
  cutOff(identity: string): void {
    this.#cutOff.add(identity);
  }

  share(identity: string): number {
    return [...this.last.values()].filter((each) => each === identity).length;
  }

  #clientOf(identity: string, cluster: FakeCluster): FakeCluster {
    return new Proxy(cluster, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          if (this.#cutOff.has(identity)) throw new Error(`${identity} is cut off`);
          return Reflect.apply(member, target, args);
        };
      },
    });
  }
}

test('each key is one process at a time, and each process has its share', async (t) => {
  const group = new Group(t);
  await group.create();
  for (const identity of ['a', 'b', 'c']) group.start(identity);
  await group.world.advance(60_000);
  group.last.clear();
  await group.world.advance(30_000);
  assert.deepEqual(group.clashes, []);
  assert.equal(group.last.size, keys, 'every key is somebody’s');
  for (const identity of ['a', 'b', 'c'])
    assert.ok(group.share(identity) >= 3, `${identity} has ${group.share(identity)}`);
});

test('a process that comes takes its share, and one that stops gives it up at once', async (t) => {
  const group = new Group(t);
  await group.create();
  const first = group.start('a');
  await group.world.advance(20_000);
  assert.equal(group.share('a'), keys);
  const second = group.start('b');
  await group.world.advance(20_000);
  assert.ok(group.share('b') >= 8, `b has ${group.share('b')}`);
  await second.stop();
  group.last.clear();
  await group.world.advance(12_000);
  assert.equal(group.share('a'), keys, 'no lease had to run out');
  assert.deepEqual(group.clashes, []);
  await first.stop();
  const left = (await group.cluster.list(leases)).items.filter(({ spec }) => (spec?.holderIdentity ?? '') !== '');
  assert.deepEqual(left, [], 'nothing is held by those who left');
});

test('a process that is cut off stops its work before another has it, and fails', async (t) => {
  const group = new Group(t);
  await group.create();
  group.start('a');
  const cut = group.start('b');
  await group.world.advance(30_000);
  assert.ok(group.share('b') > 0);
  group.cutOff('b');
  await group.world.advance(60_000);
  await assert.rejects(cut.ended, ShardsLostError);
  group.last.clear();
  await group.world.advance(15_000);
  assert.equal(group.share('a'), keys);
  assert.deepEqual(group.clashes, []);
});

test('leader election and sharding exclude each other', () => {
  const world = simulatedWorld(1);
  const lease = { name: 'x', namespace: 'default', identity: 'me' };
  assert.throws(
    () =>
      createManager({
        client: new FakeCluster(),
        world,
        log: createLog({ write: () => undefined, world }),
        controllers: [],
        leaderElection: lease,
        sharding: lease,
      }),
    /leaderElection or sharding, not both/,
  );
});

test('only the shards of a process that comes or goes change hands', () => {
  const owners = (members: readonly string[]) =>
    Array.from({ length: 200 }, (_, shard) => rendezvous(shard, members) ?? '');
  const before = owners(['a', 'b', 'c']);
  const after = owners(['a', 'b', 'c', 'd']);
  for (const [shard, owner] of after.entries()) assert.ok(owner === before[shard] || owner === 'd');
  const gained = after.filter((owner) => owner === 'd').length;
  assert.ok(gained > 25 && gained < 80, `${gained} of 200`);
  assert.equal(rendezvous(0, []), undefined);
  assert.equal(shardOf('default/a', 32), shardOf('default/a', 32));
});
