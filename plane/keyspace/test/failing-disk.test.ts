import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { realWorld, simulatedWorld, waitFor } from '@castellan/world';
import { KeyspaceFailedError, type KeyspaceNotice, openEmbeddedKeyspace, prefixRange } from '../src/index.js';
import { collectWatch } from './collected-watch.js';
import { SimulatedDisk } from './simulated-disk.js';

const world = simulatedWorld(1);
const everything = prefixRange('');

function openOn(disk: SimulatedDisk, onNotice: (notice: KeyspaceNotice) => void = () => undefined) {
  const limits = { segmentBytes: 10_000, slackBytes: 0 };
  return openEmbeddedKeyspace({ directory: '/keyspace', world, fileSystem: disk.fileSystem, limits, onNotice });
}

test('K12: a write that is not durable yet is shown by no read, no watch and no refusal of another write', async () => {
  const disk = new SimulatedDisk();
  const keyspace = await openOn(disk);
  await keyspace.put('/a', Buffer.from('old'), { ifRevision: 0 });
  const collected = await collectWatch(keyspace, everything, 2);
  const stopped = disk.stopAfter(2);
  let answers = 0;
  const answer = () => answers++;
  keyspace.put('/a', Buffer.from('new'), { ifRevision: 2 }).then(answer, answer);
  keyspace.put('/a', Buffer.from('refused'), { ifRevision: 2 }).then(answer, answer);
  await stopped;
  const read = await keyspace.get('/a');
  assert.deepEqual([read.revision, read.keyValue?.modRevision], [2, 2]);
  assert.equal(await keyspace.revision(), 2);
  assert.deepEqual(collected.events(), []);
  assert.equal(answers, 0);
});

test('writes of one turn of the event loop share one write to the disk', async () => {
  const disk = new SimulatedDisk();
  const keyspace = await openOn(disk);
  const before = disk.appends;
  await Promise.all(
    Array.from({ length: 64 }, (_, index) => keyspace.put(`/${index}`, Buffer.alloc(10), { ifRevision: 0 })),
  );
  assert.equal(disk.appends - before, 1);
  await keyspace.close();
});

for (const code of ['ENOSPC', 'EIO'] as const) {
  test(`K13: after a write failed with ${code} nothing is written any more, reads go on, and a restart has all`, async () => {
    const disk = new SimulatedDisk();
    const keyspace = await openOn(disk);
    await keyspace.put('/acknowledged', Buffer.from('1'), { ifRevision: 0 });
    const collected = await collectWatch(keyspace, everything, 2);
    disk.failure = { code, path: /\.log$/ };
    const writes = await Promise.allSettled([
      keyspace.put('/one', Buffer.from('2'), { ifRevision: 0 }),
      keyspace.put('/two', Buffer.from('2'), { ifRevision: 0 }),
    ]);
    for (const write of writes) {
      assert.ok(write.status === 'rejected');
      assert.ok(write.reason instanceof KeyspaceFailedError);
      assert.match(write.reason.message, code === 'ENOSPC' ? /free space on that disk/ : /check that disk/);
    }
    disk.failure = undefined;
    await assert.rejects(keyspace.put('/three', Buffer.from('3'), { ifRevision: 0 }), KeyspaceFailedError);
    await assert.rejects(keyspace.compact(2), KeyspaceFailedError);
    assert.ok((await keyspace.status()).failure instanceof KeyspaceFailedError);
    assert.equal((await keyspace.range(everything)).count, 1);
    assert.deepEqual(collected.events(), []);
    await keyspace.close();

    const again = await openOn(disk);
    const { keyValues } = await again.range(everything);
    assert.deepEqual(
      keyValues.map(({ key }) => key),
      ['/acknowledged'],
    );
    await again.put('/three', Buffer.from('3'), { ifRevision: 0 });
    await again.close();
  });
}

test('K13: a disk that fills up while the log is rewritten loses nothing, and the next compaction tries again', async () => {
  const disk = new SimulatedDisk();
  const notices: KeyspaceNotice[] = [];
  const keyspace = await openOn(disk, (notice) => notices.push(notice));
  let revision = 0;
  const overwriteAndCompact = async () => {
    for (let index = 0; index < 20; index++) {
      revision = (await keyspace.put('/a', Buffer.alloc(100), { ifRevision: revision })).revision;
    }
    await keyspace.compact(revision);
  };
  const until = (what: string, condition: () => Promise<boolean>) =>
    waitFor(realWorld(), condition, { what, deadlineMs: 30_000, everyMs: 2 });

  disk.failure = { code: 'ENOSPC', path: /\.tmp$/ };
  await overwriteAndCompact();
  await until('the rewriting to fail', async () => notices.length > 0);
  disk.failure = undefined;
  assert.deepEqual(
    notices.map(({ kind }) => kind),
    ['rewrite-failed'],
  );
  const { sizeBytes } = await keyspace.status();
  await overwriteAndCompact();
  await until('the log to be shorter', async () => (await keyspace.status()).sizeBytes < sizeBytes / 2);
  await keyspace.close();
  const again = await openOn(disk);
  assert.equal((await again.get('/a')).keyValue?.modRevision, revision);
  await again.close();
});

const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', tmpdir()]).status === 0;

test('K13: on a real disk that is full, all acknowledged writes are there once space is freed', {
  skip: canMount ? false : 'mounting a small disk needs user namespaces or root, and unshare',
}, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
  try {
    // The mount is gone with the process that made it.
    const script = 'mount -t tmpfs -o size=2m none "$1" && exec "$2" "$3" "$1"';
    const program = fileURLToPath(new URL('./full-disk.js', import.meta.url));
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['-rm', 'sh', '-ec', script, 'sh', directory, process.execPath, program],
      { timeout: 120_000 },
    );
    assert.match(stdout, /^all \d+ acknowledged writes are there\n$/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
