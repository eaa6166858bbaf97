import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OrderedEntries } from './ordered-entries.js';

const keys = fc.constantFrom('/a/1', '/a/2', '/a/3', '/b/1', '/b/2', '/c/1');
const operations = fc.array(fc.record({ key: keys, isPut: fc.boolean() }), { maxLength: 40 });
const ranges = fc.constantFrom(
  { start: '/a/', end: '/a0' },
  { start: '/b/', end: '/b0' },
  { start: '/', end: '0' },
  { start: '/d/', end: '/d0' },
);

test('entries are those of a sorted map, in whatever order they were put, replaced and deleted', () => {
  fc.assert(
    fc.property(operations, ranges, fc.oneof(fc.constant(''), keys, fc.constant('/a/15')), (run, range, after) => {
      const entries = new OrderedEntries();
      const model = new Map<string, number>();
      run.forEach(({ key, isPut }, index) => {
        if (isPut) entries.set(key, { metadata: {}, index });
        else entries.delete(key);
        if (isPut) model.set(key, index);
        else model.delete(key);
      });
      const expected = [...model]
        .filter(([key]) => key >= range.start && key < range.end && key > after)
        .sort(([left], [right]) => (left < right ? -1 : 1));
      assert.deepEqual(
        entries.within(range, after).map(({ key, object }) => [key, object.index]),
        expected,
      );
      for (const [key, index] of model) assert.equal(entries.get(key)?.index, index);
    }),
    { numRuns: 500 },
  );
});

test('a list stays what it was when its entries are replaced', () => {
  const entries = new OrderedEntries();
  entries.set('/a/1', { metadata: {}, index: 1 });
  const listed = entries.within({ start: '/a/', end: '/a0' }, '');
  entries.set('/a/1', { metadata: {}, index: 2 });
  assert.equal(listed[0]?.object.index, 1);
});
