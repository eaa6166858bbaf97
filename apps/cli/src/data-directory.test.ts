import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolveDataDirectory } from './data-directory.js';

test('--data-dir wins over CASTELLAN_HOME, which wins over .castellan in the working directory', () => {
  const environment = { CASTELLAN_HOME: '/home/of/castellan' };
  assert.equal(resolveDataDirectory('mine', environment, '/work'), '/work/mine');
  assert.equal(resolveDataDirectory(undefined, environment, '/work'), '/home/of/castellan');
  assert.equal(resolveDataDirectory(undefined, { CASTELLAN_HOME: '' }, '/work'), '/work/.castellan');
  assert.equal(resolveDataDirectory(undefined, {}, '/work'), '/work/.castellan');
});
