import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mergePatch } from './merge-patch.js';

test('an object that is as wanted needs no patch, whatever others added to it', () => {
  assert.equal(mergePatch(undefined, { spec: { size: 3 } }, { spec: { size: 3, added: 1 }, status: {} }), undefined);
});

test('a field that is changed, added, or no longer wanted is in the patch, and no other', () => {
  const before = { spec: { size: 3, version: '1', keep: true } };
  const wanted = { spec: { size: 5, keep: true, extra: 'x' } };
  const live = { spec: { size: 3, version: '1', keep: true, byOthers: 7 } };
  assert.deepEqual(mergePatch(before, wanted, live), { spec: { size: 5, extra: 'x', version: null } });
});

test('a field that was never applied by us is left alone', () => {
  assert.equal(mergePatch(undefined, { spec: {} }, { spec: { byOthers: 7 } }), undefined);
});

test('a list is replaced as a whole', () => {
  assert.deepEqual(mergePatch({}, { list: [1, 2] }, { list: [1] }), { list: [1, 2] });
});

const tree = fc.letrec((tie) => ({
  leaf: fc.oneof(fc.integer(), fc.string(), fc.array(fc.integer(), { maxLength: 3 })),
  node: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.oneof({ depthSize: 'small' }, tie('leaf'), tie('node'))),
})).node;

test('after the patch, what is wanted is there; doing it again changes nothing', () => {
  fc.assert(
    fc.property(tree, tree, tree, (before, wanted, live) => {
      const patch = mergePatch(before, { ...wanted }, live);
      const patched = patch === undefined ? live : merge(live, patch);
      assert.equal(mergePatch(wanted, { ...wanted }, patched), undefined);
    }),
  );
});

/** RFC 7386, as its pseudocode has it. */
function merge(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: Record<string, unknown> = isObject ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = merge(result[name], value);
  }
  return result;
}
