import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { realWorld } from '@castellan/world';
import { EtcdUnreachableError, type Keyspace, openEtcdKeyspace, prefixRange } from '../src/index.js';
import { collectWatch } from './collected-watch.js';
import { EtcdProcess, etcdMissing } from './etcd-process.js';

const everything = prefixRange('');
const world = realWorld();

describe('keyspaces over one etcd', { skip: etcdMissing }, () => {
  let etcd: EtcdProcess;
  before(async () => {
    etcd = await EtcdProcess.start();
  });
  after(() => etcd.remove());

  /** Each test has keys of its own. */
  const withPrefix = (prefix: string, run: (keyspace: Keyspace) => Promise<void>) => async () => {
    const keyspace = await openEtcdKeyspace({ endpoints: [etcd.endpoint], world, prefix });
    try {
      await run(keyspace);
    } finally {
      await keyspace.close();
    }
  };

  test(
    'K4: a range of more keys than one answer of etcd holds shows one revision',
    withPrefix('/paged', async (keyspace) => {
      const total = 5_003;
      for (let from = 0; from < total; from += 500) {
        const indexes = Array.from({ length: Math.min(500, total - from) }, (_, index) => from + index);
        await Promise.all(indexes.map((index) => keyspace.put(keyOf(index), Buffer.from('1'), { ifRevision: 0 })));
      }
      const revision = await keyspace.revision();
      const reading = keyspace.range(everything);
      const { keyValue } = await keyspace.get(keyOf(total - 1));
      const changed = await keyspace.put(keyOf(total - 1), Buffer.from('2'), {
        ifRevision: keyValue?.modRevision ?? 0,
      });
      const { keyValues, count, revision: readAt } = await reading;
      assert.ok(changed.isWritten);
      assert.deepEqual([keyValues.length, count], [total, total]);
      assert.equal(keyValues.at(-1)?.version, readAt < changed.revision ? 1 : 2);
      assert.ok(readAt === revision || readAt === changed.revision);
      const limited = await keyspace.range(everything, { limit: total - 1 });
      assert.deepEqual([limited.keyValues.length, limited.count], [total - 1, total]);
      assert.equal((await keyspace.range(everything, { countOnly: true })).count, total);
    }),
  );

  test(
    'K6: a watch from before this process was started gets the past and then the present',
    withPrefix('/history', async (keyspace) => {
      const start = await keyspace.revision();
      for (let index = 0; index < 20; index += 1) await put(keyspace, keyOf(index), 'old');
      const later = await openEtcdKeyspace({ endpoints: [etcd.endpoint], world, prefix: '/history' });
      try {
        const collected = await collectWatch(later, everything, start);
        assert.equal(collected.events().length, 20);
        await put(keyspace, keyOf(20), 'new');
        const events = await collected.untilEvents(21);
        assert.deepEqual(
          events.map(({ key }) => key),
          Array.from({ length: 21 }, (_, index) => keyOf(index)),
        );
      } finally {
        await later.close();
      }
    }),
  );

  test(
    'keyspaces with prefixes see nothing of each other, and their watches still hear how far etcd is',
    withPrefix('/one/', async (one) => {
      const two = await openEtcdKeyspace({ endpoints: [etcd.endpoint], world, prefix: '/one/and/more' });
      try {
        const collected = await collectWatch(two, everything, await two.revision());
        await put(one, '/a', '1');
        await put(two, '/a', '2');
        const last = await put(one, '/b', '3');
        assert.deepEqual(
          (await two.range(everything)).keyValues.map(({ key, value }) => [key, Buffer.from(value).toString()]),
          [['/a', '2']],
        );
        assert.equal((await two.status()).keys, 1);
        await collectWatch(two, everything, last);
        assert.equal(collected.events().length, 1);
        assert.equal(collected.progress.at(-1), last);
      } finally {
        await two.close();
      }
    }),
  );

  test(
    'a large value is read, watched and refused with the limit that etcd has',
    withPrefix('/large', async (keyspace) => {
      const collected = await collectWatch(keyspace, everything, await keyspace.revision());
      const value = Buffer.alloc(1_500_000, 'x');
      for (const key of ['/1', '/2', '/3']) await keyspace.put(key, value, { ifRevision: 0 });
      assert.equal((await keyspace.range(everything)).keyValues.length, 3);
      const events = await collected.untilEvents(3);
      assert.ok(events.every((event) => value.equals(event.keyValue?.value ?? Buffer.alloc(0))));
      await assert.rejects(
        keyspace.put('/4', Buffer.alloc(3_000_000), { ifRevision: 0 }),
        /refused: .+; make the object smaller/,
      );
    }),
  );

  test(
    'the status has the size on disk and the number of keys',
    withPrefix('/status', async (keyspace) => {
      await put(keyspace, '/a', '1');
      const { sizeBytes, keys, failure } = await keyspace.status();
      assert.ok(sizeBytes > 10_000);
      assert.equal(keys, 1);
      assert.equal(failure, undefined);
    }),
  );
});

test('an etcd with TLS is used with its authority, and not without', { skip: etcdMissing }, async () => {
  const etcd = await EtcdProcess.start({ tls: 'auto' });
  try {
    const endpoints = [etcd.endpoint];
    const keyspace = await openEtcdKeyspace({ endpoints, world, tls: { ca: await etcd.certificate() } });
    await put(keyspace, '/a', '1');
    await keyspace.close();
    await assert.rejects(openEtcdKeyspace({ endpoints, world }), EtcdUnreachableError);
  } finally {
    await etcd.remove();
  }
});

function keyOf(index: number): string {
  return `/${String(index).padStart(6, '0')}`;
}

async function put(keyspace: Keyspace, key: string, value: string): Promise<number> {
  const result = await keyspace.put(key, Buffer.from(value), { ifRevision: 0 });
  assert.ok(result.isWritten);
  return result.revision;
}
