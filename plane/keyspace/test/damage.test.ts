import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { DamagedLogError, type KeyspaceNotice, openEmbeddedKeyspace, prefixRange } from '../src/index.js';

const world = simulatedWorld(1);

/** Runs with a directory whose log holds ten frames, one key each, of equal length. */
function withLog(run: (directory: string, log: string) => Promise<void>) {
  return async () => {
    const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
    try {
      const keyspace = await openEmbeddedKeyspace({ directory, world });
      for (let index = 0; index < 10; index++) {
        await keyspace.put(`/key/${index}`, Buffer.alloc(100, index), { ifRevision: 0 });
      }
      await keyspace.close();
      await run(directory, join(directory, '000001.log'));
    } finally {
      await rm(directory, { recursive: true });
    }
  };
}

async function openAndCount(directory: string) {
  const notices: KeyspaceNotice[] = [];
  const keyspace = await openEmbeddedKeyspace({ directory, world, onNotice: (notice) => notices.push(notice) });
  const { count } = await keyspace.range(prefixRange('/key/'), { countOnly: true });
  return { keyspace, count, notices };
}

test(
  'K14: a log that ends within a frame is cut at the frame before, which is said once',
  withLog(async (directory, log) => {
    const { size } = await stat(log);
    const frame = size / 10;
    await truncate(log, size - 7);
    const { keyspace, count, notices } = await openAndCount(directory);
    assert.equal(count, 9);
    assert.deepEqual(
      notices.map(({ kind }) => kind),
      ['torn-end-cut'],
    );
    assert.match(notices[0]?.message ?? '', new RegExp(`last ${frame - 7} bytes of .*000001.log were cut off`));
    await keyspace.put('/key/again', Buffer.from('x'), { ifRevision: 0 });
    await keyspace.close();
    const again = await openAndCount(directory);
    assert.equal(again.count, 10);
    assert.deepEqual(again.notices, []);
    await again.keyspace.close();
  }),
);

test(
  'K14: zeros and garbage behind the last frame are cut',
  withLog(async (directory, log) => {
    for (const end of [Buffer.alloc(5000), Buffer.from('CKL1 but no frame'), Buffer.from('CKL1')]) {
      await appendFile(log, end);
      const { keyspace, count, notices } = await openAndCount(directory);
      assert.equal(count, 10);
      assert.equal(notices.length, 1);
      await keyspace.close();
    }
  }),
);

test(
  'K14: one changed byte anywhere before the last frame refuses to start, naming file, offset and what to do',
  withLog(async (directory, log) => {
    const whole = await readFile(log);
    const frame = whole.length / 10;
    for (let at = 0; at < whole.length - frame; at += 13) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 0x40;
      await writeFile(log, damaged);
      await assert.rejects(openAndCount(directory), (error) => {
        assert.ok(error instanceof DamagedLogError);
        assert.equal(error.file, log);
        assert.equal(error.offset, Math.floor(at / frame) * frame);
        assert.match(error.message, /Restore its directory from a backup/);
        return true;
      });
    }
    // Refusing has changed nothing and holds no lock.
    await writeFile(log, whole);
    const { keyspace, count } = await openAndCount(directory);
    assert.equal(count, 10);
    await keyspace.close();
  }),
);

test(
  'K14: a missing frame, segment or snapshot refuses to start',
  withLog(async (directory, log) => {
    const whole = await readFile(log);
    const frame = whole.length / 10;
    await writeFile(log, Buffer.concat([whole.subarray(0, frame), whole.subarray(2 * frame)]));
    await assert.rejects(
      openAndCount(directory),
      /000001.log is damaged at byte \d+: frame 3 stands where frame 2 belongs/,
    );
    await writeFile(log, whole);
    const keyspace = await openEmbeddedKeyspace({ directory, world, limits: { segmentBytes: 1 } });
    for (let index = 0; index < 3; index++) await keyspace.put(`/more/${index}`, Buffer.from('x'), { ifRevision: 0 });
    await keyspace.close();
    const segments = (await readdir(directory)).filter((name) => name.endsWith('.log'));
    assert.deepEqual(segments.sort(), ['000001.log', '000002.log', '000003.log', '000004.log']);
    await rm(join(directory, '000002.log'));
    await assert.rejects(openAndCount(directory), /000002.log is damaged at byte 0: the file is missing/);
    await rm(join(directory, '000001.log'));
    await assert.rejects(openAndCount(directory), /000001.log is damaged at byte 0: the file is missing/);
  }),
);

test(
  'K14: a torn end of a segment that is not the last one refuses to start',
  withLog(async (directory, log) => {
    const keyspace = await openEmbeddedKeyspace({ directory, world, limits: { segmentBytes: 1 } });
    await keyspace.put('/more', Buffer.from('x'), { ifRevision: 0 });
    await keyspace.close();
    assert.ok((await readdir(directory)).includes('000002.log'));
    await truncate(log, (await stat(log)).size - 1);
    await assert.rejects(openAndCount(directory), DamagedLogError);
  }),
);

test(
  'K14: a damaged snapshot refuses to start',
  withLog(async (directory) => {
    const keyspace = await openEmbeddedKeyspace({ directory, world, limits: { slackBytes: 0 } });
    let revision = (await keyspace.get('/key/0')).keyValue?.modRevision ?? 0;
    for (let index = 0; index < 30; index++) {
      const written = await keyspace.put('/key/0', Buffer.alloc(100), { ifRevision: revision });
      revision = written.revision;
    }
    await keyspace.compact(revision);
    await keyspace.put('/key/last', Buffer.from('x'), { ifRevision: 0 });
    await keyspace.close();
    const snapshot = join(directory, '000002.snapshot');
    const whole = await readFile(snapshot);
    await writeFile(snapshot, whole.subarray(0, whole.length - 1));
    await assert.rejects(openAndCount(directory), /000002.snapshot is damaged/);
    await writeFile(snapshot, '');
    await assert.rejects(openAndCount(directory), /the end of the snapshot is missing/);
    await writeFile(snapshot, whole);
    const opened = await openAndCount(directory);
    assert.equal(opened.count, 11);
    await opened.keyspace.close();
  }),
);
