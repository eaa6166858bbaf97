import assert from 'node:assert/strict';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { realWorld, waitFor } from '@castellan/world';
import { keptFrom, makeOutputsDirectory, outputPath, outputs } from './log-files.js';
import { LogKeeper } from './log-keeper.js';
import { addMark, LogMarks } from './log-marks.js';

const world = realWorld();
const mebibyte = 1024 * 1024;

function newDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-log-keeper-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  makeOutputsDirectory(directory);
  for (const output of outputs) writeFileSync(outputPath(directory, output), '');
  return directory;
}

function newKeeper(t: TestContext, directory: string, partBytes?: number): LogKeeper {
  const bound = partBytes === undefined ? {} : { partBytes };
  const keeper = new LogKeeper({ world, onProblem: (message) => assert.fail(message), ...bound });
  t.after(() => keeper.close());
  keeper.watch(directory);
  return keeper;
}

/** The time of a byte, when there is one. */
async function marked(directory: string, output: 'stdout' | 'stderr', offset: number): Promise<number> {
  const time = () => {
    const marks = new LogMarks(directory);
    return marks.timeMs(marks.of(output, offset));
  };
  return await waitFor(world, time, { what: `byte ${offset} of ${output} to have a time`, deadlineMs: 60_000 });
}

/** Later than everything so far, by the clock that the marks are made with. */
const laterThan = (ms: number) =>
  waitFor(world, () => world.clock.now() > ms && world.clock.now(), { what: 'the clock to go on', deadlineMs: 60_000 });

test('N60 each part of both outputs has the time at which it was written', async (t) => {
  const directory = newDirectory(t);
  const keeper = newKeeper(t, directory);
  const beginMs = world.clock.now();
  appendFileSync(outputPath(directory, 'stdout'), 'one\n');
  const first = await marked(directory, 'stdout', 3);
  const between = await laterThan(first);
  appendFileSync(outputPath(directory, 'stderr'), 'two\n');
  const second = await marked(directory, 'stderr', 0);
  keeper.close();
  assert.ok(beginMs <= first && first < between && between <= second, `${[beginMs, first, between, second]}`);
  const marks = new LogMarks(directory);
  const sizesBefore = (ms: number) => {
    const { stdout, stderr } = marks.before(ms);
    return [stdout, stderr];
  };
  assert.deepEqual(sizesBefore(beginMs), [0, 0]);
  assert.deepEqual(sizesBefore(between), [4, 0]);
  assert.deepEqual(sizesBefore(second + 1), [4, 4]);
  assert.equal(marks.timeMs(marks.of('stdout', 4)), undefined);
});

test('what was written while nobody watched has the time of the last change, and earlier marks stay', async (t) => {
  const directory = newDirectory(t);
  const first = newKeeper(t, directory);
  appendFileSync(outputPath(directory, 'stdout'), 'one\n');
  const writtenMs = await marked(directory, 'stdout', 0);
  first.close();
  const pauseEndMs = await laterThan(writtenMs + 100);
  appendFileSync(outputPath(directory, 'stdout'), 'two\n');
  newKeeper(t, directory);
  const laterMs = await marked(directory, 'stdout', 4);
  // The kernel's clock for files goes in steps of some milliseconds.
  assert.ok(laterMs >= pauseEndMs - 50, `${laterMs} and ${pauseEndMs}`);
  assert.equal(await marked(directory, 'stdout', 0), writtenMs);
});

test('N61 a flood keeps its last four to five parts, what the other output said, and its writer and its offsets', async (t) => {
  const directory = newDirectory(t);
  newKeeper(t, directory, mebibyte);
  appendFileSync(outputPath(directory, 'stderr'), 'warning\n');
  const path = outputPath(directory, 'stdout');
  const file = openSync(path, 'a');
  t.after(() => closeSync(file));
  const block = Buffer.alloc(mebibyte, `${'x'.repeat(1023)}\n`);
  for (let written = 0; written < 20; written += 1) writeSync(file, block);
  const onDisk = () => statSync(path).blocks * 512;
  await waitFor(world, () => keptFrom(directory).stdout >= 15 * mebibyte && onDisk() <= 5.1 * mebibyte, {
    what: () => `all but 5 MiB to be given back; there are ${onDisk()} from ${keptFrom(directory).stdout}`,
    deadlineMs: 60_000,
  });
  writeSync(file, 'last\n');
  assert.equal(statSync(path).size, 20 * mebibyte + 5);
  const { stdout, stderr } = keptFrom(directory);
  assert.ok(20 * mebibyte - stdout >= 3.9 * mebibyte, `${stdout}`);
  assert.equal(stderr, 0);
  assert.equal(readFileSync(outputPath(directory, 'stderr'), 'utf8'), 'warning\n');
});

test('a flood that nobody watched is cut by one look after it', async (t) => {
  const directory = newDirectory(t);
  truncateSync(outputPath(directory, 'stdout'), 90 * mebibyte);
  appendFileSync(outputPath(directory, 'stdout'), 'last\n');
  const keeper = new LogKeeper({ world, onProblem: (message) => assert.fail(message) });
  keeper.look(directory);
  assert.deepEqual(keptFrom(directory), { stdout: 50 * mebibyte + 5, stderr: 0 });
  const marks = new LogMarks(directory);
  assert.equal(marks.of('stdout', 90 * mebibyte), 0);
  assert.equal(marks.count, 1);
});

test('a directory that is removed while it is watched is marked no more, and ends nobody', async (t) => {
  const removed = newDirectory(t);
  const keeper = newKeeper(t, removed);
  appendFileSync(outputPath(removed, 'stdout'), 'x'.repeat(100));
  await marked(removed, 'stdout', 99);
  rmSync(removed, { recursive: true });
  // A second one says when the watches of this process have been told of.
  const other = newDirectory(t);
  keeper.watch(other);
  appendFileSync(outputPath(other, 'stdout'), 'after\n');
  await marked(other, 'stdout', 0);
  assert.equal(existsSync(removed), false);
});

test('marks that cannot be written are a problem that is told once', async (t) => {
  const problems: string[] = [];
  const keeper = new LogKeeper({ world, onProblem: (message) => problems.push(message) });
  for (let time = 0; time < 2; time += 1) {
    const directory = newDirectory(t);
    symlinkSync('/dev/full', join(directory, 'output-marks'));
    appendFileSync(outputPath(directory, 'stdout'), 'said\n');
    keeper.look(directory);
  }
  assert.equal(problems.length, 1);
  assert.match(problems[0] ?? '', /^logs of containers are kept without the times of their lines: Error: ENOSPC/);
});

test('an output that its program empties is begun anew, with the times of the other', async (t) => {
  const directory = newDirectory(t);
  newKeeper(t, directory);
  appendFileSync(outputPath(directory, 'stdout'), 'stays\n');
  appendFileSync(outputPath(directory, 'stderr'), 'is emptied\n');
  const stays = await marked(directory, 'stdout', 0);
  await marked(directory, 'stderr', 0);
  writeFileSync(outputPath(directory, 'stderr'), 'new\n');
  const isAnew = () => {
    const marks = new LogMarks(directory);
    return marks.mark(marks.count - 1)?.stderr === 4;
  };
  await waitFor(world, isAnew, { what: 'the new length to be marked', deadlineMs: 60_000 });
  assert.equal(await marked(directory, 'stdout', 0), stays);
});

test('times take 8 MiB at most: the older half is thinned out', (t) => {
  const directory = newDirectory(t);
  const count = (8 * mebibyte) / 24;
  for (const [atMs, stdout] of [
    [1, 1],
    [2, 2],
    [3, 3],
    [4, 4],
  ] as const)
    addMark(directory, { atMs, stdout, stderr: 0 });
  const one = readFileSync(join(directory, 'output-marks'));
  writeFileSync(join(directory, 'output-marks'), Buffer.concat(Array.from({ length: count / 4 + 1 }, () => one)));
  appendFileSync(outputPath(directory, 'stdout'), 'more than four\n');
  newKeeper(t, directory).close();
  const marks = new LogMarks(directory);
  assert.ok(marks.count > 0.74 * count && marks.count < 0.76 * count, `${marks.count} of ${count}`);
  assert.equal(marks.mark(0)?.atMs, 2);
});
