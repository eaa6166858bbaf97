import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { realWorld, waitFor } from '@castellan/world';
import {
  CompactedError,
  EtcdUnreachableError,
  FutureRevisionError,
  type Keyspace,
  openEtcdKeyspace,
  prefixRange,
  UncertainWriteError,
} from '../src/index.js';
import { type CollectedWatch, collectWatch } from './collected-watch.js';
import { CuttableProxy } from './cuttable-proxy.js';
import { EtcdProcess, etcdMissing, startEtcdCluster } from './etcd-process.js';

const everything = prefixRange('');
const world = realWorld();

interface Stage {
  readonly etcd: EtcdProcess;
  readonly proxy: CuttableProxy;
  /** Over the proxy. */
  readonly keyspace: Keyspace;
  /** Straight to etcd, as another process would. */
  readonly other: Keyspace;
  readonly notices: string[];
}

function withEtcd(run: (stage: Stage) => Promise<void>) {
  return async () => {
    const etcd = await EtcdProcess.start();
    const proxy = await CuttableProxy.to(etcd.endpoint);
    const notices: string[] = [];
    const opened: Keyspace[] = [];
    try {
      const onNotice = (notice: string) => notices.push(notice);
      const keyspace = await openEtcdKeyspace({ endpoints: [proxy.endpoint], world, onNotice });
      opened.push(keyspace);
      const other = await openEtcdKeyspace({ endpoints: [etcd.endpoint], world });
      opened.push(other);
      await run({ etcd, proxy, keyspace, other, notices });
    } finally {
      await Promise.all(opened.map((keyspace) => keyspace.close()));
      await proxy.close();
      await etcd.remove();
    }
  };
}

describe('a keyspace over an etcd that fails', { skip: etcdMissing, concurrency: 2 }, () => {
  test(
    'K18: while etcd is killed and started again, a watch loses no change and gets none twice',
    { timeout: 150_000 },
    withEtcd(async ({ etcd, keyspace }) => {
      const collected = await collectWatch(keyspace, everything, 1);
      const writer = new Writer(keyspace);
      for (let round = 0; round < 3; round += 1) {
        await writer.until(writer.acknowledged.size + 50);
        await etcd.kill();
        await etcd.start();
      }
      await writer.until(writer.acknowledged.size + 50);
      await writer.stop();
      await assertSawAll(keyspace, collected);
      await writer.assertKept(keyspace);
    }),
  );

  test(
    'K18: while connections are lost all the time, a watch loses no change and gets none twice',
    { timeout: 150_000 },
    withEtcd(async ({ proxy, keyspace, other, notices }) => {
      const collected = await collectWatch(keyspace, everything, 1);
      const writer = new Writer(other);
      for (let round = 0; round < 20; round += 1) {
        await writer.until(writer.acknowledged.size + 20);
        await waitFor(world, () => proxy.connections > 0, { what: 'a connection over the proxy', deadlineMs: 30_000 });
        proxy.drop();
      }
      await writer.stop();
      await assertSawAll(keyspace, collected);
      assert.match(notices[0] ?? '', /^the watch of etcd was lost \(.+\); it is opened again$/);
    }),
  );

  test(
    'K18: a watch that missed what was compacted meanwhile ends, and a new one sees all that follows',
    withEtcd(async ({ proxy, keyspace, other }) => {
      const collected = await collectWatch(keyspace, everything, 1);
      await put(other, '/a', 1);
      await collected.untilEvents(1);
      proxy.cut();
      await put(other, '/b', 1);
      await put(other, '/b', 2);
      await other.compact(await other.revision());
      proxy.mend();
      await untilEnded(collected);
      assert.ok(collected.ends[0] instanceof CompactedError, String(collected.ends[0]));
      await assertWatchesAgain(keyspace);
    }),
  );

  test(
    'K18: a deletion that was compacted is missed too, although etcd lets a watch begin there',
    withEtcd(async ({ etcd, proxy, keyspace, other }) => {
      const collected = await collectWatch(keyspace, everything, 1);
      const revision = await put(other, '/a', 1);
      await collected.untilEvents(1);
      proxy.cut();
      await other.delete('/a', { ifRevision: revision });
      await compactPhysically(etcd, revision + 1);
      await put(other, '/b', 1);
      proxy.mend();
      await untilEnded(collected);
      assert.ok(collected.ends[0] instanceof CompactedError, String(collected.ends[0]));
      await assertWatchesAgain(keyspace);
    }),
  );

  test(
    'K19: when etcd comes back with less than it had, watches end, because what they saw is not so any more',
    withEtcd(async ({ etcd, keyspace, other }) => {
      const collected = await collectWatch(keyspace, everything, 1);
      await put(other, '/a', 1);
      await collected.untilEvents(1);
      await etcd.kill();
      await etcd.forgetData();
      await etcd.start();
      await untilEnded(collected);
      assert.ok(collected.ends[0] instanceof FutureRevisionError, String(collected.ends[0]));
      await assertWatchesAgain(keyspace);
    }),
  );

  test(
    'K20: a write that etcd was asked for and did not answer is uncertain, and one it was not asked for was not made',
    { timeout: 150_000 },
    withEtcd(async ({ etcd, proxy, keyspace }) => {
      await put(keyspace, '/a', 1);
      await etcd.pause();
      const value = Buffer.alloc(1_000);
      const before = proxy.forwarded;
      const asked = keyspace.put('/asked', value, { ifRevision: 0 });
      asked.catch(() => undefined);
      await waitFor(world, () => proxy.forwarded > before + value.length, {
        what: 'the write to be sent',
        deadlineMs: 30_000,
        everyMs: 2,
      });
      await etcd.kill();
      await assert.rejects(asked, UncertainWriteError);
      const notAsked = keyspace.put('/not-asked', Buffer.from('1'), { ifRevision: 0 });
      await assert.rejects(notAsked, EtcdUnreachableError);
      await etcd.start();
      assert.equal((await keyspace.get('/not-asked')).keyValue, undefined);
      assert.equal((await keyspace.get('/a')).keyValue?.version, 1);
    }),
  );

  test(
    'K21: while one endpoint fails, reads, writes and watches go on over another',
    withEtcd(async ({ etcd, proxy }) => {
      const second = await CuttableProxy.to(etcd.endpoint);
      const endpoints = ['127.0.0.1:1', proxy.endpoint, second.endpoint];
      const keyspace = await openEtcdKeyspace({ endpoints, world });
      try {
        const collected = await collectWatch(keyspace, everything, 1);
        await put(keyspace, '/a', 1);
        await collected.untilEvents(1);
        proxy.cut();
        await put(keyspace, '/b', 1);
        await collected.untilEvents(2);
        proxy.mend();
        second.cut();
        await put(keyspace, '/c', 1);
        await collected.untilEvents(3);
        assert.deepEqual(collected.ends, []);
      } finally {
        await keyspace.close();
        await second.close();
      }
    }),
  );

  test('K18, K21: a cluster of three loses one member after the other, and nobody notices', {
    timeout: 150_000,
  }, async () => {
    const members = await startEtcdCluster(3);
    const keyspace = await openEtcdKeyspace({ endpoints: members.map(({ endpoint }) => endpoint), world });
    try {
      const collected = await collectWatch(keyspace, everything, 1);
      const writer = new Writer(keyspace);
      for (const member of members) {
        await writer.until(writer.acknowledged.size + 50);
        await member.kill();
        await writer.until(writer.acknowledged.size + 50);
        await member.start();
      }
      await writer.stop();
      await assertSawAll(keyspace, collected);
      await writer.assertKept(keyspace);
    } finally {
      await keyspace.close();
      await Promise.all(members.map((member) => member.remove()));
    }
  });

  test('K22: an etcd that is not there is named, with the reason and what to check', async () => {
    // Nobody listens on port 1, also not another test meanwhile.
    const endpoints = ['127.0.0.1:1'];
    await assert.rejects(openEtcdKeyspace({ endpoints, world }), (error) => {
      assert.ok(error instanceof EtcdUnreachableError);
      assert.match(error.message, /^etcd at 127\.0\.0\.1:1 does not answer: connect ECONNREFUSED 127\.0\.0\.1:1;/);
      assert.match(error.message, /check that etcd runs there/);
      return true;
    });
  });

  test(
    'K22: an etcd that takes connections and does not answer is unreachable too',
    { timeout: 90_000 },
    withEtcd(async ({ etcd }) => {
      await etcd.pause();
      await assert.rejects(openEtcdKeyspace({ endpoints: [etcd.endpoint], world }), EtcdUnreachableError);
      etcd.resume();
    }),
  );
});

/** Creates one key after the other, and keeps book of what it was told. */
class Writer {
  readonly acknowledged = new Map<string, number>();
  readonly #keyspace: Keyspace;
  readonly #refused: string[] = [];
  readonly #running: Promise<void>;
  #isStopped = false;

  constructor(keyspace: Keyspace) {
    this.#keyspace = keyspace;
    this.#running = this.#run();
    // A test that fails closes the keyspace under its writer; `stop` says what the writer failed of.
    this.#running.catch(() => undefined);
  }

  async #run(): Promise<void> {
    for (let index = 0; !this.#isStopped; index += 1) {
      const key = `/written/${String(index).padStart(6, '0')}`;
      try {
        const result = await this.#keyspace.put(key, Buffer.from(key), { ifRevision: 0 });
        assert.ok(result.isWritten);
        this.acknowledged.set(key, result.revision);
      } catch (error) {
        if (error instanceof EtcdUnreachableError) this.#refused.push(key);
        else assert.ok(error instanceof UncertainWriteError, String(error));
      }
    }
  }

  async until(acknowledged: number): Promise<void> {
    await waitFor(world, () => this.acknowledged.size >= acknowledged, {
      what: () => `${acknowledged} acknowledged writes, of which there are ${this.acknowledged.size}`,
      deadlineMs: 60_000,
      everyMs: 2,
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  async assertKept(keyspace: Keyspace): Promise<void> {
    const { keyValues } = await keyspace.range(everything);
    const kept = new Map(keyValues.map(({ key, modRevision }) => [key, modRevision]));
    for (const [key, revision] of this.acknowledged) assert.equal(kept.get(key), revision, key);
    for (const key of this.#refused) assert.equal(kept.get(key), undefined, key);
  }
}

async function assertSawAll(keyspace: Keyspace, collected: CollectedWatch): Promise<void> {
  const { keyValues } = await keyspace.range(everything);
  await collected.untilEvents(keyValues.length);
  const expected = keyValues.map(({ key, modRevision }) => [key, modRevision]);
  expected.sort((left, right) => Number(left[1]) - Number(right[1]));
  assert.deepEqual(
    collected.events().map(({ key, revision }) => [key, revision]),
    expected,
  );
  assert.deepEqual(collected.ends, []);
}

async function assertWatchesAgain(keyspace: Keyspace): Promise<void> {
  const after = await keyspace.revision();
  const again = await collectWatch(keyspace, everything, after);
  const revision = await put(keyspace, '/again', 1);
  assert.deepEqual(
    (await again.untilEvents(1)).map((event) => event.revision),
    [revision],
  );
  again.watch.cancel();
}

/** A compaction is done a while after etcd has answered: until then a deletion is still there to be seen. */
async function compactPhysically({ endpoint }: EtcdProcess, revision: number): Promise<void> {
  const reply = await fetch(`http://${endpoint}/v3/kv/compaction`, {
    method: 'POST',
    body: JSON.stringify({ revision: String(revision), physical: true }),
  });
  assert.equal(reply.status, 200, await reply.text());
}

async function untilEnded(collected: CollectedWatch): Promise<void> {
  await waitFor(world, () => collected.ends.length > 0, { what: 'the watch to end', deadlineMs: 30_000, everyMs: 5 });
}

async function put(keyspace: Keyspace, key: string, value: number): Promise<number> {
  const { keyValue } = await keyspace.get(key);
  const result = await keyspace.put(key, Buffer.from(`${value}`), { ifRevision: keyValue?.modRevision ?? 0 });
  assert.ok(result.isWritten);
  return result.revision;
}
