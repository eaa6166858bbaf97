import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { DebianProgram } from './debian-program.js';
import { DebianProgramRecipe } from './debian-program-recipe.js';
import { parseImageName } from './image-name.js';

/** A server that says its version on standard error, as nginx does. */
async function withServer(body: (recipe: DebianProgramRecipe, path: string) => Promise<void>) {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-server-'));
  try {
    const path = join(directory, 'server');
    writeFileSync(path, '#!/bin/sh\necho "server version: 1.22.1" >&2\n');
    chmodSync(path, 0o755);
    const program: DebianProgram = {
      ...{ images: ['server'], path, package: 'server-light', name: 'server' },
      version: { arguments: ['-v'], pattern: /^server version: (\S+)/ },
      image: { arguments: ['server', '-f'], stopSignal: 'SIGQUIT' },
    };
    await body(new DebianProgramRecipe([program]), path);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('N15 a program of Debian stands for all tags of its image, and says so where it is of another version', () =>
  withServer(async (recipe, path) => {
    const resolved = async (image: string) => await recipe.resolve(parseImageName(image));
    const substitution = async (image: string) => (await resolved(image)).substitution;
    for (const image of [
      'server',
      'server:latest',
      'server:1.22',
      'server:1.22.1-alpine',
      'server:v1',
      'server:stable',
    ]) {
      assert.equal(await substitution(image), undefined, image);
    }
    assert.equal(
      await substitution('server:1.14.2'),
      "wanted server 1.14.2; this machine has 1.22.1; running it (Debian's server-light)",
    );
    assert.match((await substitution('server:1.2')) ?? '', /wanted server 1\.2;/);
    const image = await resolved('docker.io/library/server:1.22.1');
    assert.equal(image.id, `program:/${path}@1.22.1`);
    assert.deepEqual([image.arguments, image.stopSignal], [['server', '-f'], 'SIGQUIT']);
  }));

test('N14 a program that is not on the machine is named with its package', () =>
  withServer(async (recipe, path) => {
    rmSync(path);
    await assert.rejects(recipe.resolve(parseImageName('server')), /next: apt-get install server-light/);
    assert.equal(recipe.matches(parseImageName('team/server')), false);
  }));
