import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { EtcdRecipe } from './etcd-recipe.js';
import { ImageError } from './image.js';
import { ImageCatalogue } from './image-catalogue.js';
import { isImageName, parseImageName } from './image-name.js';
import { formatVersion, nearestVersion, parseVersion } from './version.js';

/** A directory with these etcds, unpacked; each only says its version. The machine's own is not looked at. */
async function withPrograms(
  versions: readonly string[],
  body: (recipe: EtcdRecipe, directory: string) => Promise<void>,
) {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-programs-'));
  try {
    for (const version of versions) {
      mkdirSync(join(directory, 'etcd', version), { recursive: true });
      const path = join(directory, 'etcd', version, 'etcd');
      writeFileSync(path, `#!/bin/sh\necho "etcd Version: ${version}"\n`);
      chmodSync(path, 0o755);
    }
    await body(new EtcdRecipe({ programDirectory: directory, machineServer: join(directory, 'none') }), directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

test('N15 the exact version is taken without a word', () =>
  withPrograms(['3.4.23', '3.5.16'], async (recipe, directory) => {
    const image = await recipe.resolve(parseImageName('quay.io/coreos/etcd:v3.5.16'));
    assert.equal(image.substitution, undefined);
    assert.equal(image.id, `program://${join(directory, 'etcd/3.5.16/etcd').slice(1)}@3.5.16`);
    assert.deepEqual(
      image.mounts.map(({ target }) => target),
      ['/usr/local/bin/etcd'],
    );
  }));

test('N15 the nearest version is taken otherwise, and the substitution says what, where from and instead of what', () =>
  withPrograms(['3.4.23', '3.5.16'], async (recipe, directory) => {
    const image = await recipe.resolve(parseImageName('quay.io/coreos/etcd:v3.2.13'));
    assert.equal(
      image.substitution,
      `wanted etcd 3.2.13; this machine has 3.4.23, 3.5.16; running 3.4.23 (${join(directory, 'etcd/3.4.23')})`,
    );
  }));

test('N14 no etcd at all names the package to install, and another major version is refused', async () => {
  const message = (expected: RegExp) => (error: unknown) => error instanceof ImageError && expected.test(error.message);
  await withPrograms([], async (recipe) => {
    await assert.rejects(
      recipe.resolve(parseImageName('etcd:3.4')),
      message(/next: apt-get install etcd-server etcd-client$/),
    );
  });
  await withPrograms(['3.4.23'], async (recipe) => {
    await assert.rejects(
      recipe.resolve(parseImageName('etcd:v2.3.8')),
      message(/only 3\.4\.23, of another major version/),
    );
  });
});

test('N14 an unknown image is refused with the list of what there is', async () => {
  const catalogue = new ImageCatalogue({ programDirectory: '/nonexistent' });
  await assert.rejects(
    catalogue.resolve('example.com/team/thing:1'),
    /"example.com\/team\/thing:1" is not on this machine: it was not loaded/,
  );
});

test('image names are those of the reference grammar', () => {
  const names = ['busybox', 'a/b-c__d.e:1.2_3', 'localhost:5000/a', `quay.io/coreos/etcd@sha256:${'0a'.repeat(32)}`];
  assert.deepEqual(names.filter(isImageName), names);
  const others = ['', 'Busy', 'a b', 'a:', 'a/', '/a', 'a@sha256:0a', 'a..b', '-a', `a:${'t'.repeat(129)}`];
  assert.deepEqual(others.filter(isImageName), []);
});

test('image names are read as Docker reads them', () => {
  const read = (name: string) => Object.values(parseImageName(name)).join(' ');
  assert.equal(read('busybox'), 'docker.io busybox latest');
  assert.equal(read('docker.io/library/busybox:1.28'), 'docker.io busybox 1.28');
  assert.equal(read('localhost:5000/a/b'), 'localhost:5000 a/b latest');
  assert.equal(read('quay.io/coreos/etcd@sha256:0a'), 'quay.io coreos/etcd sha256:0a');
});

test('the nearest version is the nearest newer minor, else the nearest older one, newest patch, same major', () => {
  const nearest = (wanted: string, available: readonly string[]) => {
    const versions = available.flatMap((text) => parseVersion(text) ?? []);
    const found = nearestVersion(parseVersion(wanted) ?? { major: 0, minor: 0, patch: 0 }, versions);
    return found === undefined ? undefined : formatVersion(found);
  };
  assert.equal(nearest('3.2.13', ['3.5.30', '3.4.1', '3.4.23', '2.9.0']), '3.4.23');
  assert.equal(nearest('3.6.0', ['3.4.23', '3.5.16']), '3.5.16');
  assert.equal(nearest('3.5.1', ['3.5.1', '3.5.30']), '3.5.1');
  assert.equal(nearest('4.0.0', ['3.5.1']), undefined);
});
