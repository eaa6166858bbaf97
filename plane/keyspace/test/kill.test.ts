import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { realWorld, simulatedWorld } from '@castellan/world';
import { openEmbeddedKeyspace, prefixRange } from '../src/index.js';

const ROUNDS = 20;

test(`K10, K15: ${ROUNDS} times killed with SIGKILL in the middle of writes, no acknowledged write is lost`, async () => {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-keyspace-'));
  const { random } = simulatedWorld(7);
  const acknowledged = new Set<number>();
  try {
    for (let round = 0; round < ROUNDS; round++) {
      const count = 1 + Math.floor(random.next() * 400);
      for (const number of await writeAndKill(directory, round * 1_000_000, count)) acknowledged.add(number);
      // The lock of the killed process is still there and is taken over.
      const keyspace = await openEmbeddedKeyspace({ directory, world: realWorld() });
      const { keyValues } = await keyspace.range(prefixRange('/object/'));
      const present = new Map(keyValues.map(({ key, value }) => [Number(key.slice('/object/'.length)), value]));
      for (const number of acknowledged) {
        const value = present.get(number);
        assert.ok(value !== undefined, `write ${number} was acknowledged and is lost (round ${round})`);
        assert.deepEqual(Buffer.from(value), Buffer.alloc(500, number % 251));
      }
      await keyspace.close();
    }
    const files = await readdir(directory);
    assert.ok(
      files.some((name) => name.endsWith('.snapshot')),
      'the log was never rewritten',
    );
  } finally {
    await rm(directory, { recursive: true });
  }
});

/** Runs the writer until it has acknowledged `count` writes, kills it, and gives all that it acknowledged. */
async function writeAndKill(directory: string, first: number, count: number): Promise<readonly number[]> {
  const program = fileURLToPath(new URL('./kill-writer.js', import.meta.url));
  const child = spawn(process.execPath, [program, directory, String(first)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 120_000,
  });
  const exited = once(child, 'exit');
  const acknowledged: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(Number(line));
    if (acknowledged.length === count) child.kill('SIGKILL');
  }
  await exited;
  assert.ok(acknowledged.length >= count, `the writer ended by itself after ${acknowledged.length} writes`);
  return acknowledged;
}
