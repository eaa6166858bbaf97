import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.js';

test('gives the same lines however the bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat()), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll('\n', ''));
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const places = [...new Set(cuts.map((cut) => (bytes.length === 0 ? 0 : cut % bytes.length)))].sort(
        (a, b) => a - b,
      );
      const splitter = new LineSplitter(10_000);
      const found = [0, ...places].flatMap((from, index) =>
        splitter.push(bytes.subarray(from, places[index] ?? bytes.length)),
      );
      assert.deepEqual(found, lines);
      assert.equal(splitter.hasPending, false);
    }),
  );
});

test('refuses a line without end', () => {
  const splitter = new LineSplitter(100);
  splitter.push(Buffer.alloc(100, 'x'));
  assert.throws(() => splitter.push(Buffer.alloc(1, 'x')), RangeError);
});
