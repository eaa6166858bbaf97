import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realWorld } from '@castellan/world';
import fc from 'fast-check';
import { makeOutputsDirectory, type Output, outputPath, outputs, recordKeptFrom } from '../sandbox/log-files.js';
import { addMark } from '../sandbox/log-marks.js';
import { type LogRequest, readLog } from './container-logs.js';

const world = realWorld();
const whole: LogRequest = {
  namespace: 'n',
  pod: 'p',
  container: 'c',
  follow: false,
  previous: false,
  timestamps: false,
};

/** A start of a container that has written this. */
async function withLog(
  content: string | Readonly<Record<Output, string>>,
  body: (directory: string) => Promise<void>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-logs-'));
  makeOutputsDirectory(directory);
  const written = typeof content === 'string' ? { stdout: content, stderr: '' } : content;
  for (const output of outputs) writeFileSync(outputPath(directory, output), written[output]);
  try {
    await body(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function read(directory: string, request: Partial<LogRequest>): Promise<string> {
  const chunks: Uint8Array[] = [];
  const source = { directory, isRunning: () => false };
  const signal = AbortSignal.timeout(60_000);
  for await (const chunk of readLog(source, { ...whole, ...request }, { world, signal })) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

test('the last lines of a log are those of the whole log, for any content and number', async () => {
  const line = fc.string({ maxLength: 20 }).map((text) => text.replaceAll('\n', ' '));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), fc.boolean(), fc.nat(25), (lines, isEnded, tailLines) =>
      withLog(lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''), async (directory) => {
        const all = await read(directory, {});
        const parts = all.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const expected = tailLines === 0 ? '' : parts.slice(-tailLines).join('');
        assert.equal(await read(directory, { tailLines }), expected);
      }),
    ),
    { numRuns: 50 },
  );
});

test('a long log is read whole, and its last line is found', () =>
  withLog(`${'x'.repeat(200_000)}\nlast\n`, async (directory) => {
    assert.equal((await read(directory, {})).length, 200_006);
    assert.equal(await read(directory, { tailLines: 1 }), 'last\n');
    assert.equal(await read(directory, { limitBytes: 3 }), 'xxx');
  }));

test('without marks a log is as old as its last change, and times stand before each line', () =>
  withLog('one\ntwo\n', async (directory) => {
    for (const output of outputs) utimesSync(outputPath(directory, output), 1_000, 1_000);
    assert.equal(await read(directory, { sinceMs: 2_000_000 }), '');
    assert.equal(await read(directory, { sinceMs: 1_000_000 }), 'one\ntwo\n');
    const time = '1970-01-01T00:16:40.000000000Z';
    assert.equal(await read(directory, { timestamps: true }), `${time} one\n${time} two\n`);
  }));

const [first, second, third] = [1, 2, 3].map((seconds) => `1970-01-01T00:00:0${seconds}.000000000Z`);

test('with marks each line has the time at which its end was written, and a log begins with what ended since a time', () =>
  withLog('one\ntwo\nthree', async (directory) => {
    for (const [atMs, stdout] of [
      [1_000, 4],
      [2_000, 6],
      [3_000, 13],
    ] as const) {
      addMark(directory, { atMs, stdout, stderr: 0 });
    }
    const stamped = `${first} one\n${third} two\n${third} three`;
    assert.equal(await read(directory, { timestamps: true }), stamped);
    assert.equal(await read(directory, { sinceMs: 500 }), 'one\ntwo\nthree');
    assert.equal(await read(directory, { sinceMs: 2_500 }), 'two\nthree');
    assert.equal(await read(directory, { sinceMs: 1_000, tailLines: 1 }), 'three');
    assert.equal(await read(directory, { timestamps: true, sinceMs: 2_500, limitBytes: 33 }), `${third} tw`);
  }));

test('N60 the lines of both outputs come in the order of their times, and the last ones are the last of both', () =>
  withLog({ stdout: 'o1\no2\no3\n', stderr: 'e1\ne2' }, async (directory) => {
    addMark(directory, { atMs: 1_000, stdout: 3, stderr: 0 });
    addMark(directory, { atMs: 2_000, stdout: 4, stderr: 3 });
    addMark(directory, { atMs: 3_000, stdout: 9, stderr: 5 });
    assert.equal(await read(directory, {}), 'o1\ne1\no2\no3\ne2');
    assert.equal(
      await read(directory, { timestamps: true }),
      `${first} o1\n${second} e1\n${third} o2\n${third} o3\n${third} e2`,
    );
    assert.equal(await read(directory, { tailLines: 2 }), 'o3\ne2');
    assert.equal(await read(directory, { tailLines: 4 }), 'e1\no2\no3\ne2');
    assert.equal(await read(directory, { sinceMs: 1_500 }), 'e1\no2\no3\ne2');
    assert.equal(await read(directory, { tailLines: 9 }), 'o1\ne1\no2\no3\ne2');
  }));

test('following gives what is written until the container ends, and half a line when nothing else can come', () =>
  withLog('one\nhalf', async (directory) => {
    let isRunning = true;
    const source = { directory, isRunning: () => isRunning };
    const signal = AbortSignal.timeout(60_000);
    const seen: string[] = [];
    for await (const chunk of readLog(source, { ...whole, follow: true }, { world, signal })) {
      seen.push(Buffer.from(chunk).toString('utf8'));
      if (seen.length === 1) appendFileSync(outputPath(directory, 'stderr'), 'two\n');
      if (seen.length === 2) isRunning = false;
    }
    assert.deepEqual(seen, ['one\n', 'two\n', 'half']);
  }));

test('N61 who follows a log that is cut goes on behind the cut, with a whole line', () =>
  withLog('one\ntwo\nthree\n', async (directory) => {
    let isRunning = true;
    const source = { directory, isRunning: () => isRunning };
    const signal = AbortSignal.timeout(60_000);
    recordKeptFrom(directory, { stdout: 5, stderr: 0 });
    const seen: string[] = [];
    for await (const chunk of readLog(source, { ...whole, follow: true }, { world, signal })) {
      seen.push(Buffer.from(chunk).toString('utf8'));
      if (seen.length === 2) isRunning = false;
      if (seen.length > 1) continue;
      appendFileSync(outputPath(directory, 'stdout'), `${'x'.repeat(100)}\nlast\n`);
      recordKeptFrom(directory, { stdout: 50, stderr: 0 });
    }
    assert.deepEqual(seen, ['three\n', 'last\n']);
  }));
