import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

test('the package runs in a browser, and what its engines weigh is loaded only when a schema needs them', async () => {
  const { metafile } = await build({
    entryPoints: [fileURLToPath(new URL('../src/index.js', import.meta.url))],
    bundle: true,
    splitting: true,
    outdir: 'unwritten',
    format: 'esm',
    platform: 'browser',
    metafile: true,
    write: false,
    logLevel: 'silent',
  });
  const atOnce = new Set<string>();
  const visit = (path: string) => {
    const output = metafile.outputs[path];
    if (output === undefined || atOnce.has(path)) return;
    atOnce.add(path);
    for (const { path: imported, kind } of output.imports) if (kind === 'import-statement') visit(imported);
  };
  for (const [path, { entryPoint }] of Object.entries(metafile.outputs)) {
    if (entryPoint?.endsWith('src/index.js')) visit(path);
  }
  const inputs = [...atOnce].flatMap((path) => Object.keys(metafile.outputs[path]?.inputs ?? {}));
  assert.deepEqual(inputs.filter(isOfPackage), []);
  assert.ok(inputs.length > 20);
  const later = Object.keys(metafile.inputs).filter(isOfPackage);
  const packages = new Set(later.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]));
  assert.deepEqual([...packages].sort(), ['@marcbachmann/cel-js', 're2js']);
});

function isOfPackage(path: string): boolean {
  return path.includes('node_modules');
}
