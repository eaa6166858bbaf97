import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { terminationMessage } from './termination-message.js';

test('of a message file of any size the beginning is read', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-message-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'termination-log');
  writeFileSync(path, `it was ${'x'.repeat(5_000)}`);
  // With a hole: longer than any text of JavaScript, and nothing on the disk.
  truncateSync(path, 3 * 1024 ** 3);
  const message = terminationMessage({ directory, fallsBackToLog: false });
  assert.equal(message, `it was ${'x'.repeat(4_089)}`);
});
