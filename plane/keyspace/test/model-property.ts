import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  CompactedError,
  type KeyEvent,
  type KeyRange,
  type Keyspace,
  type KeyValue,
  type LeaseId,
  LeaseNotFoundError,
  prefixRange,
  type Revision,
} from '../src/index.js';
import { type CollectedWatch, collectWatch } from './collected-watch.js';
import { NaiveModel, plain } from './naive-model.js';
import type { OpenKeyspace } from './opened-keyspace.js';

class Model extends NaiveModel {
  readonly leases: LeaseId[] = [];
  readonly watches: { readonly range: KeyRange; readonly after: Revision; readonly collected: CollectedWatch }[] = [];
}

interface Real {
  keyspace: Keyspace;
  readonly reopen?: () => Promise<Keyspace>;
}

type Command = fc.AsyncCommand<Model, Real>;

const keys = fc.constantFrom('/a', '/a/1', '/a/2', '/b', '/\u{ff01}', '/\u{1f600}');
const ranges = fc.oneof(
  fc.constantFrom('', '/', '/a', '/a/', '/\u{1f600}').map(prefixRange),
  fc.record({ start: keys, end: keys }),
  keys.map((start) => ({ start })),
);
/** A place between the compacted revision (0) and the present (100), and sometimes before. */
const places = fc.integer({ min: -20, max: 100 });

const commands: fc.Arbitrary<Command>[] = [
  fc
    .record({
      key: keys,
      value: fc.uint8Array({ maxLength: 8 }),
      isStale: fc.integer({ min: 0, max: 4 }),
      isLeased: fc.boolean(),
    })
    .map(({ key, value, isStale, isLeased }) =>
      command(`put ${key}${isStale === 0 ? ' (stale)' : ''}${isLeased ? ' (leased)' : ''}`, async (model, real) => {
        const { keyspace } = real;
        const lease = isLeased ? model.leases.at(-1) : undefined;
        const ifRevision = (model.now.get(key)?.modRevision ?? 0) + (isStale === 0 ? 1 : 0);
        const previous = model.now.get(key);
        const result = await keyspace.put(key, value, { ifRevision, ...(lease !== undefined && { lease }) });
        assert.equal(result.isWritten, isStale !== 0);
        if (result.isWritten) model.put(key, value, lease);
        assertSame(result.isWritten ? result.previous : result.present, previous);
        assert.equal(result.revision, model.revision);
      }),
    ),
  keys.map((key) =>
    command(`delete ${key}`, async (model, { keyspace }) => {
      const previous = model.now.get(key);
      const result = await keyspace.delete(key, { ifRevision: previous?.modRevision ?? 0 });
      assert.ok(result.isWritten);
      if (previous !== undefined) model.delete(key);
      assert.equal(result.revision, model.revision);
    }),
  ),
  fc.constant(
    command('grant a lease', async (model, { keyspace }) => {
      // Longer than any run: leases end here by being revoked; those that run out have tests of their own.
      model.leases.push(await keyspace.grantLease(10_000));
      assert.equal(await keyspace.revision(), model.revision);
    }),
  ),
  fc.nat({ max: 10 }).map((place) =>
    command(`revoke lease ${place}`, async (model, { keyspace }) => {
      const [lease] = model.leases.splice(place % Math.max(1, model.leases.length), 1);
      if (lease === undefined) return;
      await keyspace.revokeLease(lease);
      model.endLease(lease);
      assert.equal(await keyspace.revision(), model.revision);
      await assert.rejects(keyspace.keepLeaseAlive(lease), LeaseNotFoundError);
    }),
  ),
  fc.record({ range: ranges, place: places, limit: fc.integer({ min: 0, max: 3 }) }).map(({ range, place, limit }) =>
    command(`range ${JSON.stringify(range)} at ${place}`, async (model, { keyspace }) => {
      const revision = placeIn(model, place);
      const read = keyspace.range(range, { revision, limit });
      if (revision < model.compacted) return assert.rejects(read, CompactedError);
      const { keyValues, count } = await read;
      const expected = model.range(range, revision);
      assert.equal(count, expected.length);
      const wanted = limit === 0 ? expected : expected.slice(0, limit);
      assert.deepEqual(keyValues.map(plain), wanted.map(plain));
    }),
  ),
  fc.record({ range: ranges, place: places }).map(({ range, place }) =>
    command(`watch ${JSON.stringify(range)} from ${place}`, async (model, { keyspace }) => {
      const after = placeIn(model, place);
      const opened = collectWatch(keyspace, range, after);
      if (after < model.compacted) return assert.rejects(opened, CompactedError);
      model.watches.push({ range, after, collected: await opened });
    }),
  ),
  places.map((place) =>
    command(`compact to ${place}`, async (model, { keyspace }) => {
      const revision = placeIn(model, place);
      await keyspace.compact(revision);
      model.compacted = Math.max(model.compacted, revision);
      assertCompacted(await keyspace.compactedRevision(), model);
    }),
  ),
  fc.constant(
    command('reopen', async (model, real) => {
      if (real.reopen === undefined) return;
      await checkWatches(model);
      real.keyspace = await real.reopen();
      assert.equal(await real.keyspace.revision(), model.revision);
      assertCompacted(await real.keyspace.compactedRevision(), model);
    }),
  ),
];

export async function modelProperty(open: OpenKeyspace, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 80, size: 'max' }), async (run) => {
      const opened = await open();
      const model = new Model();
      const real: Real = { keyspace: opened.keyspace, ...(opened.reopen && { reopen: opened.reopen }) };
      try {
        await fc.asyncModelRun(() => ({ model, real }), run);
        await checkWatches(model);
      } finally {
        await real.keyspace.close();
        await opened.dispose();
      }
    }),
    { numRuns },
  );
}

function command(name: string, run: (model: Model, real: Real) => Promise<void>): Command {
  return { check: () => true, run, toString: () => name };
}

/** Watches of a keyspace that is still open have seen everything; those of one that was closed are dropped. */
async function checkWatches(model: Model): Promise<void> {
  for (const { range, after, collected } of model.watches.splice(0)) {
    const expected = model.changes(range, after);
    const events = await collected.untilEvents(expected.length);
    // The changes of one revision, such as the end of a lease, have no order among themselves.
    const revisionOf = (change: string) => Number(change.split(' ').at(-1));
    assert.deepEqual(
      events.map(({ revision }) => revision),
      expected.map(revisionOf),
    );
    assert.deepEqual(events.map(describeEvent).sort(), expected.sort());
  }
}

function describeEvent(event: KeyEvent): string {
  return `${event.type} ${event.key} ${event.revision}`;
}

function placeIn(model: Model, place: number): Revision {
  const oldest = Math.max(1, model.compacted);
  return Math.max(1, Math.round(oldest + (place / 100) * (model.revision - oldest)));
}

/** There is nothing before revision 1, so an etcd does not tell a compaction to 1 from none. */
function assertCompacted(actual: Revision, model: Model): void {
  assert.equal(Math.max(1, actual), Math.max(1, model.compacted));
}

function assertSame(actual: KeyValue | undefined, expected: KeyValue | undefined): void {
  assert.deepEqual(actual && plain(actual), expected && plain(expected));
}
