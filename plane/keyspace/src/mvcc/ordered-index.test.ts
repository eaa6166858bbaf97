import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareKeys, prefixRange } from './key-order.js';
import { OrderedIndex } from './ordered-index.js';

const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 4 });

test('K3: two keys compare as their UTF-8 bytes do', () => {
  fc.assert(
    fc.property(key, key, (left, right) => {
      assert.equal(Math.sign(compareKeys(left, right)), Buffer.compare(Buffer.from(left), Buffer.from(right)));
    }),
    { numRuns: 2000 },
  );
});

test('K3: a prefix range holds exactly the keys that begin with the prefix', () => {
  const prefixes = fc.string({ unit: fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10ffff}'), maxLength: 3 });
  fc.assert(
    fc.property(prefixes, fc.array(prefixes), (prefix, keys) => {
      const index = new OrderedIndex<{ key: string }>();
      const distinct = [...new Set(keys.filter((each) => each !== ''))];
      for (const each of distinct) index.insert({ key: each });
      const found: string[] = [];
      index.visit(prefixRange(prefix), (entry) => found.push(entry.key));
      assert.deepEqual(found, distinct.filter((each) => each.startsWith(prefix)).sort(compareKeys));
    }),
    { numRuns: 1000 },
  );
});

test('K3: any insertions and removals leave the keys in order, over many leaves', () => {
  const changes = fc.array(fc.record({ number: fc.integer({ min: 0, max: 600 }), isInserted: fc.boolean() }), {
    maxLength: 2000,
    size: 'max',
  });
  fc.assert(
    fc.property(changes, fc.integer({ min: 0, max: 600 }), (run, from) => {
      const index = new OrderedIndex<{ key: string }>();
      const expected = new Set<string>();
      // A full start, so that removals and splits meet full leaves.
      for (let number = 0; number < 500; number++) {
        index.insert({ key: named(number) });
        expected.add(named(number));
      }
      for (const { number, isInserted } of run) {
        const key = named(number);
        if (isInserted && !expected.has(key)) index.insert({ key });
        if (isInserted) expected.add(key);
        if (!isInserted) index.remove(key);
        if (!isInserted) expected.delete(key);
      }
      const found: string[] = [];
      index.visit({ start: named(from), end: '\0' }, (entry) => found.push(entry.key));
      assert.deepEqual(found, [...expected].filter((key) => key >= named(from)).sort());
    }),
    { numRuns: 50 },
  );
});

function named(number: number): string {
  return `/${String(number).padStart(4, '0')}`;
}
