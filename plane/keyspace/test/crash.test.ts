import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld, type World } from '@castellan/world';
import fc from 'fast-check';
import { type Keyspace, type LeaseId, openEmbeddedKeyspace, prefixRange } from '../src/index.js';
import { NaiveModel, plain } from './naive-model.js';
import { SimulatedDisk } from './simulated-disk.js';

const keys = fc.constantFrom('/a', '/b', '/c', '/d');

type Operation =
  | { readonly type: 'put'; readonly key: string; readonly size: number; readonly isLeased: boolean }
  | { readonly type: 'delete'; readonly key: string }
  | { readonly type: 'grant' }
  | { readonly type: 'revoke' }
  | { readonly type: 'compact' }
  /** Waits for the answers to all before. */
  | { readonly type: 'settle' };

const operations: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('put'),
      key: keys,
      size: fc.integer({ min: 0, max: 200 }),
      isLeased: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('delete'), key: keys }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constantFrom('grant', 'revoke', 'compact') }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('settle') }) },
);

/** One life of the process: what it does, at which operation of the disk it is stopped, and how. */
const lives = fc.record({
  operations: fc.array(operations, { minLength: 1, maxLength: 30, size: 'max' }),
  stopAfter: fc.integer({ min: 1, max: 150 }),
  isPowerLost: fc.boolean(),
});

test('K10, K11, K12, K17: whenever the process or the machine stops, acknowledged and seen writes stay and none is halved', async () => {
  let stops = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(lives, { minLength: 1, maxLength: 5 }), fc.integer(), async (run, seed) => {
      const world = simulatedWorld(seed);
      const history = new History();
      let disk = new SimulatedDisk();
      for (const life of run) {
        const isStopped = disk.stopAfter(life.stopAfter).then(() => true);
        const ran = history.live(disk, world, life.operations).then(() => false);
        if (await Promise.race([isStopped, ran])) stops++;
        disk = life.isPowerLost ? disk.afterPowerLoss(world.random) : disk.afterKill();
      }
      // What this last life read must still be there after a loss of power.
      await history.live(disk, world, []);
      await history.live(disk.afterPowerLoss(world.random), world, []);
    }),
    { numRuns: 400 },
  );
  assert.ok(stops > 100, `only ${stops} runs were stopped in their middle`);
});

/** All that was asked of the keyspace, and what of it was acknowledged or seen. */
class History {
  readonly #model = new NaiveModel();
  #acknowledged = 1;
  #acknowledgedCompaction = 0;
  #leases: LeaseId[] = [];

  async live(disk: SimulatedDisk, world: World, run: readonly Operation[]): Promise<void> {
    const keyspace = await openEmbeddedKeyspace({
      directory: '/keyspace',
      world,
      fileSystem: disk.fileSystem,
      limits: { segmentBytes: 400, slackBytes: 600 },
    });
    await this.#check(keyspace);
    let pending: Promise<unknown>[] = [];
    for (const operation of run) {
      if (operation.type === 'settle') await Promise.all(pending.splice(0));
      else pending.push(this.#start(keyspace, operation));
    }
    await Promise.all(pending);
    pending = [];
    await keyspace.close();
  }

  async #check(keyspace: Keyspace): Promise<void> {
    const revision = await keyspace.revision();
    assert.ok(revision >= this.#acknowledged, `acknowledged ${this.#acknowledged}, found ${revision}`);
    assert.ok(revision <= this.#model.revision, `asked for ${this.#model.revision}, found ${revision}`);
    const compacted = await keyspace.compactedRevision();
    assert.ok(compacted >= this.#acknowledgedCompaction);
    for (let past = Math.max(1, compacted); past <= revision; past++) {
      const { keyValues } = await keyspace.range(prefixRange(''), { revision: past });
      assert.deepEqual(keyValues.map(plain), this.#model.range(prefixRange(''), past).map(plain));
    }
    // Whoever read this may act on it: from now on it is as good as acknowledged.
    this.#model.truncate(revision);
    this.#acknowledged = revision;
    this.#acknowledgedCompaction = compacted;
  }

  async #start(keyspace: Keyspace, operation: Exclude<Operation, { type: 'settle' }>): Promise<void> {
    const model = this.#model;
    switch (operation.type) {
      case 'put': {
        const { key, size, isLeased } = operation;
        const lease = isLeased ? this.#leases.at(-1) : undefined;
        const value = Buffer.alloc(size, model.revision % 251);
        const ifRevision = model.now.get(key)?.modRevision ?? 0;
        model.put(key, value, lease);
        const { revision } = model;
        const result = await keyspace.put(key, value, { ifRevision, ...(lease !== undefined && { lease }) });
        assert.deepEqual([result.isWritten, result.revision], [true, revision]);
        this.#acknowledge(revision);
        return;
      }
      case 'delete': {
        const present = model.now.get(operation.key);
        if (present === undefined) return;
        model.delete(operation.key);
        const { revision } = model;
        const result = await keyspace.delete(operation.key, { ifRevision: present.modRevision });
        assert.deepEqual([result.isWritten, result.revision], [true, revision]);
        this.#acknowledge(revision);
        return;
      }
      case 'grant':
        // A lease is used only when its grant was acknowledged; then it must outlive every stop.
        this.#leases.push(await keyspace.grantLease(1000));
        return;
      case 'revoke': {
        const lease = this.#leases.pop();
        if (lease === undefined) return;
        model.endLease(lease);
        const { revision } = model;
        await keyspace.revokeLease(lease);
        this.#acknowledge(revision);
        return;
      }
      case 'compact': {
        const { revision } = model;
        await keyspace.compact(revision);
        this.#acknowledgedCompaction = Math.max(this.#acknowledgedCompaction, revision);
        return;
      }
    }
  }

  #acknowledge(revision: number): void {
    this.#acknowledged = Math.max(this.#acknowledged, revision);
  }
}
