import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

test('the package runs in a browser: it imports nothing of Node and no other package', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.js', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const packages = Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'));
  assert.deepEqual(packages, []);
  assert.ok(Object.keys(metafile.inputs).length > 20);
});
