import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { castellan, run } from './plane-process.js';

const architecture = process.arch === 'x64' ? 'amd64' : process.arch;

async function scratch(context: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'castellan-images-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

/** What `docker save hello:1` would write of an image with one file. */
async function savedImage(directory: string): Promise<string> {
  await mkdir(join(directory, 'content'));
  await writeFile(join(directory, 'content/hello'), 'hello\n');
  const packed = await run('tar', ['-C', join(directory, 'content'), '-cf', join(directory, 'layer.tar'), '.']);
  assert.equal(packed.code, 0, packed.stderr);
  const digest = createHash('sha256')
    .update(await readFile(join(directory, 'layer.tar')))
    .digest('hex');
  const config = { os: 'linux', architecture, config: {}, rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] } };
  const manifest = [{ Config: 'config.json', RepoTags: ['hello:1'], Layers: ['layer.tar'] }];
  await writeFile(join(directory, 'config.json'), JSON.stringify(config));
  await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest));
  const file = join(directory, 'hello.tar.gz');
  const saved = await run('tar', ['-C', directory, '-czf', file, 'layer.tar', 'config.json', 'manifest.json']);
  assert.equal(saved.code, 0, saved.stderr);
  return file;
}

test('IM4: castellan image load unpacks an archive and image ls lists it, before any plane was started', async (context) => {
  const directory = await scratch(context);
  const file = await savedImage(directory);
  const home = ['--data-dir', join(directory, 'plane')];
  const loaded = await castellan(['image', 'load', file, '--name', 'example.com/hello:2', ...home]);
  assert.equal(loaded.code, 0, loaded.stderr);
  assert.match(loaded.stdout, /example\.com\/hello:2: layer 1 of 1, 0 B of [\d.]+ kB\n/);
  assert.match(loaded.stdout, /loaded example\.com\/hello:2, hello:1 {2}sha256:[0-9a-f]{12} {2}\d+(\.\d+)? kB\n$/);
  const listed = await castellan(['image', 'ls', '--output', 'json', ...home]);
  assert.equal(listed.code, 0, listed.stderr);
  const images: readonly { readonly name: string; readonly origin: string }[] = JSON.parse(listed.stdout);
  assert.deepEqual(
    images.slice(0, 2).map(({ name }) => name),
    ['docker.io/hello:1', 'example.com/hello:2'],
  );
  assert.ok(images.some(({ name, origin }) => name === 'pause' && origin === 'sleep infinity'));
});

test('IM5: what is no image is refused with a code and what to do', async (context) => {
  const directory = await scratch(context);
  await writeFile(join(directory, 'readme'), 'hello');
  const packed = await run('tar', ['-C', directory, '-cf', join(directory, 'plain.tar'), 'readme']);
  assert.equal(packed.code, 0, packed.stderr);
  const home = ['--data-dir', join(directory, 'plane')];
  const refused = await castellan(['image', 'load', join(directory, 'plain.tar'), '--output', 'json', ...home]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /"code":"NO_IMAGE".*neither manifest\.json nor index\.json.*docker save/);
  const missing = await castellan(['image', 'load', join(directory, 'none.tar'), ...home]);
  assert.equal(missing.code, 3);
});
