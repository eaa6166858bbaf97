import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { StatusError } from '@castellan/machinery';
import { CliError, errorTable, exitCodes, toCliError } from './errors.js';

test('docs/errors.md says of each error its exit status, when it happens and what to do, and names no other', async () => {
  const page = await readFile(new URL('../../../../docs/errors.md', import.meta.url), 'utf8');
  for (const [code, { exitCode, summary, next }] of Object.entries(errorTable)) {
    assert.ok(
      page.includes(`| \`${code}\` | ${exitCode} | ${summary} | ${next} |`),
      `${code}; next: node scripts/docs.mjs`,
    );
  }
  const named = [...page.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
  assert.deepEqual(named, Object.keys(errorTable));
});

test('every error has one of the documented exit statuses, and none of them is 0', () => {
  const known: readonly number[] = Object.values(exitCodes);
  for (const { exitCode } of Object.values(errorTable)) {
    assert.ok(known.includes(exitCode));
    assert.notEqual(exitCode, exitCodes.ok);
  }
});

test('a missing object and a refused one are told apart by their exit status', () => {
  assert.equal(toCliError(StatusError.of('NotFound', 'pods "a" not found'))?.exitCode, 3);
  assert.equal(toCliError(StatusError.of('Invalid', 'no'))?.exitCode, 1);
  assert.equal(toCliError(new CliError('DEADLINE', 'late'))?.exitCode, 6);
  assert.equal(toCliError(new TypeError('a bug')), undefined);
});
