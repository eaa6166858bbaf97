import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createJsonPatch } from './create-json-patch.js';
import { applyJsonPatch } from './json-patch.js';

test('a patch names what was added, changed and removed, and no more', () => {
  const before = { a: 1, b: { c: [1, 2], 'd/e~f': 'x' }, gone: true, same: { deep: [1] } };
  const after = { a: 2, b: { c: [1, 3], 'd/e~f': 'y' }, added: null, same: { deep: [1] }, absent: undefined };
  assert.deepEqual(createJsonPatch(before, after), [
    { op: 'remove', path: '/gone' },
    { op: 'replace', path: '/a', value: 2 },
    { op: 'replace', path: '/b/c', value: [1, 3] },
    { op: 'replace', path: '/b/d~1e~0f', value: 'y' },
    { op: 'add', path: '/added', value: null },
  ]);
  assert.deepEqual(createJsonPatch(before, before), []);
});

test('applying the patch between any two objects to the first gives the second', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(object, object, (before, after) => {
      const [from, to]: unknown[] = JSON.parse(JSON.stringify([before, after]));
      assert.deepEqual(applyJsonPatch(from, createJsonPatch(from, to)), to);
    }),
  );
});
