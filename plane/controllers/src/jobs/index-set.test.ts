import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IndexSet } from './index-set.js';

test('two indexes that touch are written apart, three as a range', () => {
  assert.equal(IndexSet.of([0, 1]).toString(), '0,1');
  assert.equal(IndexSet.of([7, 3, 5, 4, 1]).toString(), '1,3-5,7');
  assert.equal(IndexSet.empty.toString(), '');
});

test('indexes that a Job no longer has are left out when it is read, and what is no index too', () => {
  assert.equal(IndexSet.parse('0-4,6,8-20', 7).toString(), '0-4,6');
  assert.equal(IndexSet.parse('0,x,3-1,2', 10).toString(), '0,2');
  assert.equal(IndexSet.parse(undefined, 10).size, 0);
});

test('it is a set of numbers, whichever way it is asked', () => {
  const numbers = fc.array(fc.nat(40), { maxLength: 30 });
  fc.assert(
    fc.property(numbers, numbers, fc.nat(45), fc.nat(10), (some, others, completions, count) => {
      const [left, right] = [new Set(some), new Set(others)];
      const [set, other] = [IndexSet.of(some), IndexSet.of(others)];
      const isAbsent = (index: number) => !left.has(index);
      assert.equal(set.size, left.size);
      assert.equal(set.has(completions), left.has(completions));
      assert.equal(set.overlap(other), [...left].filter((index) => right.has(index)).length);
      assert.equal(set.union(other).size, new Set([...some, ...others]).size);
      assert.equal(IndexSet.parse(set.toString(), 41).toString(), set.toString());
      assert.deepEqual(
        set.absent(count, completions),
        Array.from({ length: completions }, (_, index) => index)
          .filter(isAbsent)
          .slice(0, count),
      );
    }),
  );
});
