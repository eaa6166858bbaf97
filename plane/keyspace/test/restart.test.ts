import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realWorld, simulatedWorld, waitFor } from '@castellan/world';
import { openEmbeddedKeyspace, prefixRange } from '../src/index.js';
import { collectWatch } from './collected-watch.js';

const everything = prefixRange('');

function withDirectory(run: (directory: string) => Promise<void>) {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
    try {
      await run(directory);
    } finally {
      await rm(directory, { recursive: true });
    }
  };
}

test(
  'K10: values of all sizes, larger than what is read at once too, are the same after a restart',
  withDirectory(async (directory) => {
    const world = realWorld();
    const sizes = [0, 1, 100, 16_384, 16_385, 65_536, 1_048_555, 1_048_576, 3_000_000, 2, 500_000, 700_000, 1_000_000];
    const before = await openEmbeddedKeyspace({ directory, world });
    for (const [index, size] of sizes.entries()) {
      await before.put(`/${index}`, Buffer.alloc(size, `${index} and so on`), { ifRevision: 0 });
    }
    await before.close();
    const after = await openEmbeddedKeyspace({ directory, world });
    for (const [index, size] of sizes.entries()) {
      const { keyValue } = await after.get(`/${index}`);
      assert.ok(keyValue !== undefined && Buffer.alloc(size, `${index} and so on`).equals(keyValue.value), `/${index}`);
    }
    await after.close();
  }),
);

test(
  'K16: a lease survives a restart, then has its full TTL again, and its name is never given twice',
  withDirectory(async (directory) => {
    const world = simulatedWorld(1);
    const limits = { slackBytes: 0 };
    const before = await openEmbeddedKeyspace({ directory, world, limits });
    const lease = await before.grantLease(100);
    const ended = await before.grantLease(100);
    await before.put('/leased', Buffer.from('1'), { ifRevision: 0, lease });
    await before.put('/free', Buffer.from('2'), { ifRevision: 0 });
    await before.revokeLease(ended);
    await world.advance(90_000);
    await before.compact(await before.revision());
    await waitFor(realWorld(), async () => (await readdir(directory)).includes('000002.snapshot'), {
      what: 'the log to be rewritten',
      deadlineMs: 30_000,
      everyMs: 2,
    });
    await before.close();

    const after = await openEmbeddedKeyspace({ directory, world, limits });
    assert.notEqual(await after.grantLease(1000), ended);
    const collected = await collectWatch(after, everything, await after.revision());
    await world.advance(99_000);
    assert.equal((await after.get('/leased')).keyValue?.lease, lease);
    await world.advance(1_000);
    const events = await collected.untilEvents(1);
    assert.deepEqual(
      events.map(({ type, key }) => `${type} ${key}`),
      ['delete /leased'],
    );
    await after.close();
  }),
);

test(
  'K17: a key that is overwritten and compacted for ever takes a bounded log',
  withDirectory(async (directory) => {
    const slackBytes = 100_000;
    const keyspace = await openEmbeddedKeyspace({ directory, world: realWorld(), limits: { slackBytes } });
    const live = 20 * 1000;
    for (let index = 0; index < 20; index++) await keyspace.put(`/${index}`, Buffer.alloc(1000), { ifRevision: 0 });
    let largest = 0;
    for (let round = 0; round < 30; round++) {
      for (let index = 0; index < 20; index++) {
        const { keyValue } = await keyspace.get(`/${index}`);
        await keyspace.put(`/${index}`, Buffer.alloc(1000), { ifRevision: keyValue?.modRevision ?? 0 });
      }
      await keyspace.compact(await keyspace.revision());
      largest = Math.max(largest, (await keyspace.status()).sizeBytes);
    }
    // Between two compactions one round is added; while a snapshot is written, what it replaces is there too.
    const bound = 2 * live + slackBytes + 3 * live;
    assert.ok(largest < bound, `${largest} bytes of log, more than ${bound}`);
    await keyspace.close();
    let onDisk = 0;
    for (const name of await readdir(directory)) onDisk += (await stat(join(directory, name))).size;
    assert.ok(onDisk < bound, `${onDisk} bytes on disk`);
    const again = await openEmbeddedKeyspace({ directory, world: realWorld() });
    assert.equal((await again.status()).sizeBytes, onDisk);
    assert.equal((await again.range(everything)).count, 20);
    await again.close();
  }),
);
