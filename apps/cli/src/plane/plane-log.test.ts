import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { lastLogLines, openPlaneLog } from './plane-log.js';

let directory: string;
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'castellan-cli-'));
});
after(async () => await rm(directory, { recursive: true }));

test('each message is one line with time, level and fields, and only trouble is shown to people', async () => {
  const path = join(directory, 'made/castellan.log');
  const shown: string[] = [];
  const log = openPlaneLog({ path, world: simulatedWorld(1), onTrouble: (message) => shown.push(message) });
  log.debug('not written');
  log.info('started', { key: 'default/a', reason: 'two\nlines' });
  log.error('failed', { error: new Error('why') });
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  assert.equal(lines.length, 2);
  assert.match(lines[0] ?? '', /^\d{4}-\d\d-\d\dT[\d:.]+Z INFO started key=default\/a reason="two\\nlines"$/);
  assert.match(lines[1] ?? '', /ERROR failed error="Error: why/);
  assert.deepEqual(shown, ['failed']);
  assert.deepEqual(lastLogLines(path, 1), lines.slice(1));
  assert.deepEqual(lastLogLines(join(directory, 'none'), 1), []);
});

test('a log that has grown large makes room for a new one and is kept once', async () => {
  const path = join(directory, 'castellan.log');
  openPlaneLog({ path, world: simulatedWorld(1) }).info('first');
  await truncate(path, 17 * 1024 * 1024);
  const log = openPlaneLog({ path, world: simulatedWorld(1) });
  log.info('second');
  assert.ok((await stat(path)).size < 1000);
  assert.ok((await stat(`${path}.1`)).size > 16 * 1024 * 1024);
});
