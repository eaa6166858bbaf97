import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { KeyspaceFailedError, KeyspaceLockedError, openEmbeddedKeyspace } from '../src/index.js';

const world = simulatedWorld(1);

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
  'K15: a directory that is open fails to open again, naming the process and the directory, until it is closed',
  withDirectory(async (directory) => {
    const keyspace = await openEmbeddedKeyspace({ directory, world });
    await assert.rejects(openEmbeddedKeyspace({ directory, world }), (error) => {
      assert.ok(error instanceof KeyspaceLockedError);
      assert.equal(error.pid, process.pid);
      assert.ok(error.message.includes(directory) && error.message.includes(String(process.pid)));
      return true;
    });
    await keyspace.close();
    await (await openEmbeddedKeyspace({ directory, world })).close();
  }),
);

test(
  'K15: the lock of a process that is gone is taken over, even when its pid is in use again',
  withDirectory(async (directory) => {
    const stales = ['4194305 12345 some-boot\n', `${process.pid} 1 another-boot\n`, '', 'nonsense'];
    for (const [index, stale] of stales.entries()) {
      await writeFile(join(directory, `lock.${index + 1}`), stale);
      const keyspace = await openEmbeddedKeyspace({ directory, world });
      const lock = join(directory, `lock.${index + 2}`);
      assert.match(await readFile(lock, 'utf8'), new RegExp(`^${process.pid} `));
      await keyspace.close();
      assert.equal(await readFile(lock, 'utf8'), '');
      const locks = (await readdir(directory)).filter((name) => name.startsWith('lock'));
      assert.deepEqual(locks, [`lock.${index + 2}`]);
    }
  }),
);

test(
  'K15: of many that open a directory with a stale lock at once, exactly one gets it',
  withDirectory(async (directory) => {
    await writeFile(join(directory, 'lock.3'), '4194305 12345 some-boot\n');
    const opened = await Promise.allSettled(
      Array.from({ length: 8 }, () => openEmbeddedKeyspace({ directory, world })),
    );
    const winners = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    assert.equal(winners.length, 1);
    for (const result of opened) {
      if (result.status === 'rejected') assert.ok(result.reason instanceof KeyspaceLockedError, String(result.reason));
    }
    await winners[0]?.close();
  }),
);

test(
  'K13: a directory that cannot be made fails with its name, the cause and what to do',
  withDirectory(async (directory) => {
    const file = join(directory, 'a-file');
    await writeFile(file, '');
    await assert.rejects(openEmbeddedKeyspace({ directory: join(file, 'keyspace'), world }), (error) => {
      assert.ok(error instanceof KeyspaceFailedError);
      assert.match(error.message, /a-file\/keyspace .*ENOTDIR.*check that disk/);
      return true;
    });
  }),
);
