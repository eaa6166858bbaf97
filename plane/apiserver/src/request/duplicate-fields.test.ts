import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { duplicateFields } from './duplicate-fields.js';

test('fields named twice are told by their paths, in the order of the text', () => {
  const text =
    '{"metadata":{"name":"a","name":"b"}, "data" : {"a":"1","\\u0061":"2"},"list":[{"x":1},{"x":[],"x":{}}],"data":null}';
  assert.deepEqual(duplicateFields(text), ['metadata.name', 'data.a', 'list[1].x', 'data']);
});

test('quotes and brackets within texts are no structure', () => {
  assert.deepEqual(duplicateFields('{"a":"\\"}{","b\\\\":"]","c":[ ],"d":{ },"e":-1.5e3}'), []);
});

test('what JSON.stringify wrote has no duplicates, and a doubled object has them all', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value, null, 1);
      assert.deepEqual(duplicateFields(text), []);
      const body = text.slice(1, -1);
      if (body.trim() === '') return;
      const twice = duplicateFields(`{${body},${body}}`);
      assert.equal(twice.length, Object.keys(JSON.parse(text)).length);
    }),
  );
});

test('a text of endless nesting is refused before anybody follows it', () => {
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const deep = `${open.repeat(100_000)}1${close.repeat(100_000)}`;
    assert.throws(() => duplicateFields(deep), /exceeded max depth/);
  }
});
