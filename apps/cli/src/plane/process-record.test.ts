import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readLiveProcessRecord, removeProcessRecord, startTimeOf, writeProcessRecord } from './process-record.js';

let directory: string;
let path: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'castellan-cli-'));
  path = join(directory, 'castellan.pid');
});
after(async () => await rm(directory, { recursive: true }));

test('a record of a running process is read back', () => {
  const record = { pid: process.pid, startTime: startTimeOf(process.pid), url: 'https://127.0.0.1:1' };
  writeProcessRecord(path, record);
  assert.deepEqual(readLiveProcessRecord(path), record);
});

test('a process that has another start time is another process', () => {
  writeProcessRecord(path, { pid: process.pid, startTime: '1' });
  assert.equal(readLiveProcessRecord(path), undefined);
});

test('a process that has ended is not found', async (t) => {
  const child = spawn('sleep', ['60']);
  t.after(() => child.kill('SIGKILL'));
  const pid = child.pid ?? assert.fail('sleep did not start');
  writeProcessRecord(path, { pid, startTime: startTimeOf(pid) });
  assert.equal(readLiveProcessRecord(path)?.pid, pid);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.equal(readLiveProcessRecord(path), undefined);
});

test('a file that is no record, or absent, names no process', async () => {
  await writeFile(path, 'not JSON');
  assert.equal(readLiveProcessRecord(path), undefined);
  await writeFile(path, '{"pid":"1"}');
  assert.equal(readLiveProcessRecord(path), undefined);
  removeProcessRecord(path);
  removeProcessRecord(path);
  assert.equal(readLiveProcessRecord(path), undefined);
});
