import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realWorld } from '@castellan/world';
import fc from 'fast-check';
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

async function withLog(content: string, body: (path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-logs-'));
  const path = join(directory, 'log');
  writeFileSync(path, content);
  try {
    await body(path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

async function read(path: string, request: Partial<LogRequest>): Promise<string> {
  const chunks: Uint8Array[] = [];
  const source = { path, isRunning: () => false };
  const signal = AbortSignal.timeout(60_000);
  for await (const chunk of readLog(source, { ...whole, ...request }, { world, signal })) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

test('the last lines of a log are those of the whole log, for any content and number', async () => {
  const line = fc.string({ maxLength: 20 }).map((text) => text.replaceAll('\n', ' '));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), fc.boolean(), fc.nat(25), (lines, isEnded, tailLines) =>
      withLog(lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''), async (path) => {
        const all = await read(path, {});
        const parts = all.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const expected = tailLines === 0 ? '' : parts.slice(-tailLines).join('');
        assert.equal(await read(path, { tailLines }), expected);
      }),
    ),
    { numRuns: 50 },
  );
});

test('a long log is read whole, and its last line is found', () =>
  withLog(`${'x'.repeat(200_000)}\nlast\n`, async (path) => {
    assert.equal((await read(path, {})).length, 200_006);
    assert.equal(await read(path, { tailLines: 1 }), 'last\n');
    assert.equal(await read(path, { limitBytes: 3 }), 'xxx');
  }));

test('without marks a log is as old as its last change, and times stand before each line', () =>
  withLog('one\ntwo\n', async (path) => {
    utimesSync(path, 1_000, 1_000);
    assert.equal(await read(path, { sinceMs: 2_000_000 }), '');
    assert.equal(await read(path, { sinceMs: 1_000_000 }), 'one\ntwo\n');
    const time = '1970-01-01T00:16:40.000000000Z';
    assert.equal(await read(path, { timestamps: true }), `${time} one\n${time} two\n`);
  }));

test('with marks each line has its own time, and a log begins with the first whole line since a time', () =>
  withLog('one\ntwo\nthree', async (path) => {
    const marks = Buffer.alloc(48);
    for (const [index, number] of [1_000, 4, 2_000, 6, 3_000, 13].entries()) marks.writeDoubleBE(number, 8 * index);
    writeFileSync(`${path}-times`, marks);
    const [first, second, third] = [1, 2, 3].map((seconds) => `1970-01-01T00:00:0${seconds}.000000000Z`);
    const stamped = `${first} one\n${second} two\n${third} three`;
    assert.equal(await read(path, { timestamps: true }), stamped);
    assert.equal(await read(path, { sinceMs: 1_500 }), 'two\nthree');
    // Where a line was begun before, it is left out.
    assert.equal(await read(path, { sinceMs: 2_500 }), 'three');
    assert.equal(await read(path, { sinceMs: 1_000, tailLines: 1 }), 'three');
    assert.equal(await read(path, { timestamps: true, sinceMs: 2_500, limitBytes: 33 }), `${third} th`);
  }));

test('following gives what is written until the container ends', () =>
  withLog('one\n', async (path) => {
    let isRunning = true;
    const source = { path, isRunning: () => isRunning };
    const signal = AbortSignal.timeout(60_000);
    const seen: string[] = [];
    for await (const chunk of readLog(source, { ...whole, follow: true }, { world, signal })) {
      seen.push(Buffer.from(chunk).toString('utf8'));
      if (seen.length === 1) appendFileSync(path, 'two\n');
      else isRunning = false;
    }
    assert.deepEqual(seen, ['one\n', 'two\n']);
  }));
