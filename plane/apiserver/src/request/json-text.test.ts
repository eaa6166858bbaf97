import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseJsonText } from './json-text.js';

test('fields that are there twice are named by their path, each once', () => {
  const text =
    '{"metadata":{"name":"a","name":"b"},"spec":{"list":[{"a":1},{"a":1,"b":2,"a":3,"a":4}]},"k":"\\"{","k":0}';
  const { value, duplicates } = parseJsonText(text);
  assert.deepEqual(duplicates, ['metadata.name', 'spec.list[1].a', 'k']);
  assert.deepEqual(value, JSON.parse(text));
});

test('a name that is written in two ways is one name', () => {
  assert.deepEqual(parseJsonText('{"a":1,"\\u0061":2}').duplicates, ['a']);
});

test('no value has fields twice, however it is written', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\n\t'), (value, indent) => {
      assert.deepEqual(parseJsonText(JSON.stringify(value, null, indent)).duplicates, []);
    }),
  );
});

test('a text that is nested without end is refused, whether it is JSON or not', () => {
  const lists = '['.repeat(1_000_000);
  const objects = `${'{"a":'.repeat(600)}1${'}'.repeat(600)}`;
  for (const text of [lists, objects]) assert.throws(() => parseJsonText(text), /nested more than 500 levels deep/);
  assert.doesNotThrow(() => parseJsonText(`${'['.repeat(500)}${']'.repeat(500)}`));
});
