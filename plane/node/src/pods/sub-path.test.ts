import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { subPathOf } from './sub-path.js';

function newVolume(t: TestContext): { readonly volume: string; readonly outside: string } {
  const directory = mkdtempSync(join(tmpdir(), 'castellan-sub-path-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const [volume, outside] = [join(directory, 'volume'), join(directory, 'outside')];
  for (const path of [volume, outside]) mkdirSync(path);
  return { volume, outside };
}

test('VO8: a part of a volume that is not there is made, for the same users', (t) => {
  const { volume } = newVolume(t);
  chmodSync(volume, 0o2777);
  assert.equal(subPathOf(volume, 'a/b'), join(volume, 'a/b'));
  for (const part of ['a', 'a/b']) assert.equal(statSync(join(volume, part)).mode & 0o7777, 0o2777);
});

test('VO8: a link within the volume is followed', (t) => {
  const { volume } = newVolume(t);
  mkdirSync(join(volume, 'real'));
  symlinkSync('real', join(volume, 'link'));
  assert.equal(subPathOf(volume, 'link/part'), join(volume, 'real/part'));
});

test('VO8: a path or a link that leads out of the volume is refused, and nothing is made there', (t) => {
  const { volume, outside } = newVolume(t);
  symlinkSync(outside, join(volume, 'link'));
  assert.throws(() => subPathOf(volume, '../outside'), /subPath "\.\.\/outside" leaves its volume/);
  assert.throws(() => subPathOf(volume, 'link'), /subPath "link" leaves its volume/);
  assert.throws(() => subPathOf(volume, 'link/new'), /subPath "link\/new" leaves its volume/);
  assert.ok(!existsSync(join(outside, 'new')));
});
