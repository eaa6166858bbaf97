import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realWorld, waitFor } from '@castellan/world';
import {
  CompactedError,
  FutureRevisionError,
  InvalidKeyError,
  type Keyspace,
  KeyspaceClosedError,
  LeaseNotFoundError,
  prefixRange,
} from '../src/index.js';
import { collectWatch } from './collected-watch.js';
import { etcdPrograms } from './etcd-process.js';
import { modelProperty } from './model-property.js';
import { type OpenedKeyspace, type OpenKeyspace, openEmbedded, openEtcd, openMemory } from './opened-keyspace.js';

const everything = prefixRange('');

// Two at once: one that waits for its disk or for the end of a lease leaves the processor to the other.
describe('every keyspace', { concurrency: 2 }, () => {
  keyspaceContract('the memory keyspace', openMemory);
  keyspaceContract('the embedded keyspace', openEmbedded);
  // A real etcd is slower to start, and its time passes as ours does: its leases outlast a machine that is slow for a while.
  for (const { name, path, missing } of etcdPrograms) {
    keyspaceContract(`the keyspace over ${name}`, openEtcd(path), { modelRuns: 4, leaseSeconds: 6, skip: missing });
  }
});

interface ContractOptions {
  readonly modelRuns?: number;
  readonly leaseSeconds?: number;
  /** Why it cannot run here. */
  readonly skip?: string | false;
}

/** The one suite that every implementation of `Keyspace` passes; SPEC.md K1 to K9. */
function keyspaceContract(name: string, open: OpenKeyspace, options: ContractOptions = {}): void {
  const { modelRuns = 100, leaseSeconds = 10, skip = false } = options;
  const withKeyspace = (run: (keyspace: Keyspace, opened: OpenedKeyspace) => Promise<void>) => async () => {
    const opened = await open();
    try {
      await run(opened.keyspace, opened);
    } finally {
      await opened.keyspace.close();
      await opened.dispose();
    }
  };
  /** Lets time pass, a tenth of a lease at a time, until `isSo`. */
  const passUntil = (what: string, pass: OpenedKeyspace['pass'], isSo: () => Promise<boolean>) =>
    waitFor(
      realWorld(),
      async () => {
        if (await isSo()) return true;
        await pass(leaseSeconds * 100);
        return false;
      },
      { what, deadlineMs: 60_000, everyMs: 1 },
    );

  describe(`${name} keeps the keyspace contract`, { concurrency: 4, skip }, () => {
    test(
      'K1: an empty keyspace is at revision 1 and each change adds one',
      withKeyspace(async (keyspace) => {
        assert.equal(await keyspace.revision(), 1);
        assert.equal(await keyspace.compactedRevision(), 0);
        assert.deepEqual(await put(keyspace, '/a', 'one'), 2);
        assert.deepEqual(await put(keyspace, '/b', 'two'), 3);
        const deleted = await keyspace.delete('/a', { ifRevision: 2 });
        assert.ok(deleted.isWritten);
        assert.equal(deleted.revision, 4);
        assert.equal(deleted.previous?.modRevision, 2);
        assert.equal(await keyspace.revision(), 4);
        assert.equal((await keyspace.status()).keys, 1);
      }),
    );

    test(
      'K1: refused writes, leases, compactions and deletions of nothing add no revision',
      withKeyspace(async (keyspace) => {
        await put(keyspace, '/a', 'one');
        await keyspace.put('/a', bytes('two'), { ifRevision: 0 });
        await keyspace.grantLease(10);
        await keyspace.compact(2);
        assert.ok((await keyspace.delete('/absent', { ifRevision: 0 })).isWritten);
        assert.equal(await keyspace.revision(), 2);
      }),
    );

    test(
      'K2: a write with another revision changes nothing and shows what is there',
      withKeyspace(async (keyspace) => {
        await put(keyspace, '/a', 'one');
        const refused = await keyspace.put('/a', bytes('two'), { ifRevision: 7 });
        assert.ok(!refused.isWritten);
        assert.equal(text(refused.present?.value), 'one');
        assert.equal(refused.revision, 2);
        const missing = await keyspace.delete('/none', { ifRevision: 2 });
        assert.deepEqual(missing, { isWritten: false, revision: 2 });
        assert.equal(text((await keyspace.get('/a')).keyValue?.value), 'one');
      }),
    );

    test(
      'K2: of many concurrent writes that expect the same revision exactly one is made',
      withKeyspace(async (keyspace) => {
        const results = await Promise.all(
          Array.from({ length: 20 }, (_, index) => keyspace.put('/a', bytes(`${index}`), { ifRevision: 0 })),
        );
        const winner = results.findIndex((result) => result.isWritten);
        assert.equal(await keyspace.revision(), 2);
        for (const [index, result] of results.entries()) {
          if (result.isWritten) assert.equal(index, winner);
          else assert.equal(text(result.present?.value), `${winner}`);
        }
      }),
    );

    test(
      'K2: a key keeps its creation revision and counts its versions until it is deleted',
      withKeyspace(async (keyspace) => {
        await put(keyspace, '/a', '1');
        await put(keyspace, '/a', '2');
        const { keyValue } = await keyspace.get('/a');
        assert.deepEqual(
          [keyValue?.createRevision, keyValue?.modRevision, keyValue?.version, text(keyValue?.value)],
          [2, 3, 2, '2'],
        );
        await keyspace.delete('/a', { ifRevision: 3 });
        await put(keyspace, '/a', '3');
        const again = (await keyspace.get('/a')).keyValue;
        assert.deepEqual([again?.createRevision, again?.modRevision, again?.version], [5, 5, 1]);
      }),
    );

    test(
      'K2: an empty key and half a surrogate pair are refused as keys',
      withKeyspace(async (keyspace) => {
        await assert.rejects(keyspace.put('', bytes('x'), { ifRevision: 0 }), InvalidKeyError);
        await assert.rejects(keyspace.put('/\ud800', bytes('x'), { ifRevision: 0 }), InvalidKeyError);
        await assert.rejects(keyspace.delete('', { ifRevision: 0 }), InvalidKeyError);
      }),
    );

    test(
      'K3: keys come in the order of their UTF-8 bytes',
      withKeyspace(async (keyspace) => {
        // In UTF-16, U+1F600 (a surrogate pair) would come before U+FF01.
        const keys = ['/a', '/a/', '/a/b', '/a0', '/b', '/é', '/\u{ff01}', '/\u{1f600}'];
        for (const key of [...keys].reverse()) await put(keyspace, key, key);
        assert.deepEqual(await keysOf(keyspace, everything), keys);
        assert.deepEqual(await keysOf(keyspace, prefixRange('/a')), ['/a', '/a/', '/a/b', '/a0']);
        assert.deepEqual(await keysOf(keyspace, prefixRange('/a/')), ['/a/', '/a/b']);
        assert.deepEqual(await keysOf(keyspace, { start: '/a/', end: '/b' }), ['/a/', '/a/b', '/a0']);
        assert.deepEqual(await keysOf(keyspace, { start: '/a/' }), ['/a/']);
        assert.deepEqual(await keysOf(keyspace, { start: '/b', end: '/a' }), []);
      }),
    );

    test(
      'K4: reads at an old revision show that revision, and a limit cuts the keys but not the count',
      withKeyspace(async (keyspace) => {
        await put(keyspace, '/a', '1');
        await put(keyspace, '/b', '2');
        await put(keyspace, '/a', '3');
        await keyspace.delete('/b', { ifRevision: 3 });
        const old = await keyspace.range(everything, { revision: 3, limit: 1 });
        assert.deepEqual(
          old.keyValues.map(({ key, value }) => [key, text(value)]),
          [['/a', '1']],
        );
        assert.equal(old.count, 2);
        assert.equal(old.revision, 5);
        assert.equal(text((await keyspace.get('/b', { revision: 4 })).keyValue?.value), '2');
        assert.equal((await keyspace.get('/b', { revision: 5 })).keyValue, undefined);
        const counted = await keyspace.range(everything, { countOnly: true });
        assert.deepEqual([counted.keyValues.length, counted.count], [0, 1]);
      }),
    );

    test(
      'K4: a read or compaction of a revision not yet reached fails and names both revisions',
      withKeyspace(async (keyspace) => {
        await assert.rejects(keyspace.get('/a', { revision: 9 }), FutureRevisionError);
        await assert.rejects(keyspace.range(everything, { revision: 9 }), /revision 9 is in the future.*revision 1;/);
        await assert.rejects(keyspace.compact(9), FutureRevisionError);
      }),
    );

    test(
      'K5: after a compaction, reads and watches from before it fail and all others are as before',
      withKeyspace(async (keyspace) => {
        await put(keyspace, '/a', '1');
        await put(keyspace, '/b', '2');
        await keyspace.delete('/a', { ifRevision: 2 });
        await put(keyspace, '/b', '3');
        await keyspace.compact(4);
        await keyspace.compact(2);
        assert.equal(await keyspace.compactedRevision(), 4);
        await assert.rejects(keyspace.range(everything, { revision: 3 }), CompactedError);
        await assert.rejects(keyspace.get('/b', { revision: 3 }), /revision 3 is compacted.*from revision 4 on/);
        await assert.rejects(collectWatch(keyspace, everything, 3), CompactedError);
        assert.deepEqual(await keysOf(keyspace, everything, 4), ['/b']);
        assert.equal(text((await keyspace.get('/b', { revision: 4 })).keyValue?.value), '2');
        const { events } = await collectWatch(keyspace, everything, 4);
        assert.deepEqual(
          events().map((event) => [event.revision, text(event.previous?.value)]),
          [[5, '2']],
        );
      }),
    );

    test(
      'K6: a late watch gets the past and then the present without a gap',
      withKeyspace(async (keyspace) => {
        await put(keyspace, '/a/1', '1');
        await put(keyspace, '/b/1', '2');
        await put(keyspace, '/a/2', '3');
        const collected = await collectWatch(keyspace, prefixRange('/a/'), 2);
        // At once; which one comes first is the keyspace's choice.
        const [third = 0, , fourth = 0] = await Promise.all(
          ['/a/3', '/b/2', '/a/4'].map((key) => put(keyspace, key, key)),
        );
        await keyspace.delete('/a/1', { ifRevision: 2 });
        const events = await collected.untilEvents(4);
        assert.deepEqual(
          events.map((event) => [event.type, event.key, event.revision]),
          [
            ['put', '/a/2', 4],
            ...[
              ['put', '/a/3', third],
              ['put', '/a/4', fourth],
            ].sort((left, right) => Number(left[2]) - Number(right[2])),
            ['delete', '/a/1', 8],
          ],
        );
        assert.equal(text(events.at(-1)?.previous?.value), '1');
        assert.equal(events.at(-1)?.keyValue, undefined);
        assert.equal(collected.progress.at(-1), 8);
        assert.deepEqual(
          [...collected.progress],
          [...collected.progress].sort((a, b) => a - b),
        );
      }),
    );

    test(
      'K6: a watch from the future gets only what comes after that revision',
      withKeyspace(async (keyspace) => {
        const collected = await collectWatch(keyspace, everything, 3);
        // At once, so that the revision it waits for lies in the middle of a group.
        await Promise.all(['/a', '/b', '/c', '/d'].map((key) => put(keyspace, key, key)));
        const events = await collected.untilEvents(2);
        assert.deepEqual(
          events.map((event) => event.revision),
          [4, 5],
        );
      }),
    );

    test(
      'K6: a cancelled watch gets nothing more, not even its end',
      withKeyspace(async (keyspace) => {
        const collected = await collectWatch(keyspace, everything, 1);
        const other = await collectWatch(keyspace, everything, 1);
        await put(keyspace, '/a', '1');
        await collected.untilEvents(1);
        collected.watch.cancel();
        await put(keyspace, '/a', '2');
        await other.untilEvents(2);
        await keyspace.close();
        assert.equal(collected.events().length, 1);
        assert.deepEqual(collected.ends, []);
      }),
    );

    test(
      'K6: a watcher may write and watch from within, and all see the changes in order',
      withKeyspace(async (keyspace) => {
        const writes: Promise<unknown>[] = [];
        await keyspace.watch(everything, 1, {
          onEvents: (events) => {
            for (const event of events) {
              if (event.key === '/first') writes.push(keyspace.put('/second', bytes('2'), { ifRevision: 0 }));
            }
          },
          onEnd: () => undefined,
        });
        const collected = await collectWatch(keyspace, everything, 1);
        await put(keyspace, '/first', '1');
        const events = await collected.untilEvents(2);
        await Promise.all(writes);
        assert.deepEqual(
          events.map((event) => [event.key, event.revision]),
          [
            ['/first', 2],
            ['/second', 3],
          ],
        );
      }),
    );

    test(
      'K7: a watcher that throws is ended with what it threw and harms only itself',
      withKeyspace(async (keyspace) => {
        const ends: (Error | undefined)[] = [];
        await keyspace.watch(everything, 1, {
          onEvents: () => {
            throw new Error('a fault of the watcher');
          },
          onEnd: (error) => {
            ends.push(error);
            throw new Error('another');
          },
        });
        const healthy = await collectWatch(keyspace, everything, 1);
        await put(keyspace, '/a', '1');
        await put(keyspace, '/a', '2');
        await healthy.untilEvents(2);
        assert.deepEqual(
          ends.map((error) => error?.message),
          ['a fault of the watcher'],
        );
      }),
    );

    test(
      'K8: an expired lease deletes the keys that are on it, in one revision',
      withKeyspace(async (keyspace, { pass, nowMs }) => {
        const grantedMs = nowMs();
        const lease = await keyspace.grantLease(leaseSeconds);
        await keyspace.put('/a', bytes('1'), { ifRevision: 0, lease });
        await keyspace.put('/b', bytes('2'), { ifRevision: 0, lease });
        const left = await keyspace.put('/c', bytes('3'), { ifRevision: 0, lease });
        await keyspace.put('/c', bytes('4'), { ifRevision: left.revision });
        assert.equal((await keyspace.get('/a')).keyValue?.lease, lease);
        const collected = await collectWatch(keyspace, everything, await keyspace.revision());
        await passUntil('the lease to expire', pass, async () => collected.events().length > 0);
        assert.ok(nowMs() - grantedMs >= leaseSeconds * 1000, 'it expired before its time');
        const events = await collected.untilEvents(2);
        assert.deepEqual(
          events.map((event) => [event.type, event.key, event.revision]),
          [
            ['delete', '/a', 6],
            ['delete', '/b', 6],
          ],
        );
        assert.equal(collected.batches.length, 1);
        assert.deepEqual(await keysOf(keyspace, everything), ['/c']);
        await assert.rejects(keyspace.put('/d', bytes('5'), { ifRevision: 0, lease }), LeaseNotFoundError);
      }),
    );

    test(
      'K8: a lease that is kept alive lives on, and one that is revoked ends at once',
      withKeyspace(async (keyspace, { pass }) => {
        const lease = await keyspace.grantLease(leaseSeconds);
        await keyspace.put('/a', bytes('1'), { ifRevision: 0, lease });
        const left = await keyspace.grantLease(leaseSeconds);
        await keyspace.put('/left', bytes('1'), { ifRevision: 0, lease: left });
        await passUntil('a lease of the same age to expire', pass, async () => {
          await keyspace.keepLeaseAlive(lease);
          return (await keyspace.get('/left')).keyValue === undefined;
        });
        assert.deepEqual(await keysOf(keyspace, everything), ['/a']);
        await keyspace.revokeLease(lease);
        assert.deepEqual(await keysOf(keyspace, everything), []);
        await assert.rejects(keyspace.keepLeaseAlive(lease), LeaseNotFoundError);
        await assert.rejects(keyspace.revokeLease(lease), LeaseNotFoundError);
      }),
    );

    test(
      'K9: closing ends the watches without an error and refuses everything after it',
      withKeyspace(async (keyspace) => {
        const collected = await collectWatch(keyspace, everything, 1);
        const last = keyspace.put('/a', bytes('1'), { ifRevision: 0 });
        await keyspace.close();
        await keyspace.close();
        assert.ok((await last).isWritten);
        assert.equal(collected.events().length, 1);
        assert.deepEqual(collected.ends, [undefined]);
        await assert.rejects(keyspace.get('/a'), KeyspaceClosedError);
        await assert.rejects(keyspace.put('/b', bytes('1'), { ifRevision: 0 }), KeyspaceClosedError);
      }),
    );

    test('K1 to K6: any sequence of operations does what a naive model does', () => modelProperty(open, modelRuns));
  });
}

/** Puts over whatever is there; gives the new revision. */
async function put(keyspace: Keyspace, key: string, value: string): Promise<number> {
  const { keyValue } = await keyspace.get(key);
  const result = await keyspace.put(key, bytes(value), { ifRevision: keyValue?.modRevision ?? 0 });
  assert.ok(result.isWritten, `${key} was changed by another`);
  return result.revision;
}

async function keysOf(keyspace: Keyspace, range: { start: string; end?: string }, revision?: number) {
  const { keyValues } = await keyspace.range(range, revision === undefined ? {} : { revision });
  return keyValues.map(({ key }) => key);
}

function bytes(value: string): Uint8Array {
  return Buffer.from(value);
}

function text(value: Uint8Array | undefined): string | undefined {
  return value && Buffer.from(value).toString();
}
