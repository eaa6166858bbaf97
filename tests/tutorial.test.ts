import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { repository } from './plane-process.js';

test('the code that the tutorial shows is in the files that it names', async () => {
  const text = await readFile(join(repository, 'docs/tutorial.md'), 'utf8');
  const shown = [...text.matchAll(/^```ts\n\/\/ (\S+)\n([\s\S]*?)^```$/gm)];
  assert.ok(shown.length >= 5, `${shown.length} pieces of code`);
  for (const [, path = '', code = ''] of shown) {
    const source = await readFile(join(repository, 'examples/memcached-operator', path), 'utf8');
    assert.ok(source.includes(code), `${path} has no\n${code}`);
  }
});
