import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shareEqualParts } from './share-equal-parts.js';

const key = fc.constantFrom('a', 'b', 'c', '__proto__', 'toString');
const { json } = fc.letrec((tie) => ({
  json: fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, '', 'x', 'y'),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('json'),
  ),
}));

const copyOf = (value: unknown): object => JSON.parse(JSON.stringify(value));

test('what is shared is equal to what came, and the reference stays as it was', () => {
  fc.assert(
    fc.property(json, json, (fresh, reference) => {
      const held = copyOf(reference);
      assert.deepEqual(shareEqualParts(copyOf(fresh), held), copyOf(fresh));
      assert.deepEqual(held, copyOf(reference));
    }),
    { numRuns: 5_000 },
  );
});

test('all that is equal is shared, and no more', () => {
  const reference = { same: { deep: [1, { x: 'y' }] }, list: [{ a: 1 }, { b: 2 }], gone: {}, text: 'one' };
  const fresh = { same: { deep: [1, { x: 'y' }] }, list: [{ a: 1 }, { b: 3 }], text: 'two' };
  const shared: Partial<typeof reference> = shareEqualParts<object>(fresh, reference);
  assert.equal(shared.same, reference.same);
  assert.equal(shared.list?.[0], reference.list[0]);
  assert.deepEqual(shared.list?.[1], { b: 3 });
  assert.equal('gone' in shared, false);
  assert.equal(shareEqualParts<object>(structuredClone(reference), reference), reference);
});
