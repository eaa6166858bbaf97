import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { exactJson, parseExactJson } from './exact-json.js';

test('an integer of 64 bits is the same after reading and writing', () => {
  const text = '{"a":9223372036854775807,"b":[-9223372036854775808,9007199254740993,1],"c":"9007199254740993"}';
  const value = parseExactJson(text);
  assert.deepEqual(value, {
    a: 9223372036854775807n,
    b: [-9223372036854775808n, 9007199254740993n, 1],
    c: '9007199254740993',
  });
  assert.equal(exactJson(value), text);
});

test('what a number holds is a number, and so is what is beyond 64 bits or has a fraction', () => {
  const value = parseExactJson('[9007199254740991, 9223372036854775808, 12345678901234567.5, 1234567890123456e3, 0]');
  assert.deepEqual(value, [9007199254740991, 2 ** 63, 12345678901234568, 1234567890123456000, 0]);
});

test('all else is read and written as JSON.parse and JSON.stringify do it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom('', ' ', '\n\t'), (value, indent) => {
      const text = JSON.stringify([value, '"1234567890123456\\'], null, indent);
      assert.equal(exactJson(parseExactJson(text)), JSON.stringify(JSON.parse(text)));
    }),
  );
});

test('a field that has the name of a prototype is a field', () => {
  const value = parseExactJson('{"__proto__":{"a":9007199254740993}}');
  assert.equal(exactJson(value), '{"__proto__":{"a":9007199254740993}}');
});

test('text that is no JSON is refused', () => {
  for (const text of ['', '{', '[9007199254740993', '9007199254740993x']) {
    assert.throws(() => parseExactJson(text), SyntaxError, text);
  }
});
