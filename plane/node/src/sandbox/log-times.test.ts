import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realWorld, waitFor } from '@castellan/world';
import { LogClock, readLogTimes } from './log-times.js';

const world = realWorld();

async function withLog(body: (directory: string, path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-log-times-'));
  const path = join(directory, 'log');
  writeFileSync(path, '');
  try {
    await body(directory, path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

const marked = (path: string, offset: number) =>
  waitFor(world, () => readLogTimes(path).at(offset), { what: `byte ${offset} to have a time`, deadlineMs: 60_000 });

/** Later than everything so far, by the clock that the marks are made with. */
const laterThan = (ms: number) =>
  waitFor(world, () => world.clock.now() > ms && world.clock.now(), { what: 'the clock to go on', deadlineMs: 60_000 });

test('each part of a log has the time at which it was written', () =>
  withLog(async (directory, path) => {
    const clock = new LogClock(world);
    clock.watch(directory);
    const beginMs = world.clock.now();
    appendFileSync(path, 'one\n');
    const first = await marked(path, 3);
    const between = await laterThan(first);
    appendFileSync(path, 'two\n');
    const second = await marked(path, 4);
    clock.close();
    assert.ok(beginMs <= first && first < between && between <= second, `${[beginMs, first, between, second]}`);
    const times = readLogTimes(path);
    assert.equal(times.before(between), 4);
    assert.equal(times.before(beginMs), 0);
    assert.equal(times.before(second + 1), 8);
    assert.equal(times.at(8), undefined);
  }));

test('what was written while nobody watched has the time of the last change, and earlier marks stay', () =>
  withLog(async (directory, path) => {
    const first = new LogClock(world);
    first.watch(directory);
    appendFileSync(path, 'one\n');
    const writtenMs = await marked(path, 0);
    first.close();
    const pauseEndMs = await laterThan(writtenMs + 100);
    appendFileSync(path, 'two\n');
    const second = new LogClock(world);
    second.watch(directory);
    const laterMs = await marked(path, 4);
    second.close();
    // The kernel's clock for files goes in steps of some milliseconds.
    assert.ok(laterMs >= pauseEndMs - 50, `${laterMs} and ${pauseEndMs}`);
    assert.equal(readLogTimes(path).at(0), writtenMs);
  }));
