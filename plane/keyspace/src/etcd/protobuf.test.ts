import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bigInt, bool, bytes, int, message, nested, part, repeated, string } from './protobuf.js';

const inner = message({ number: int(1), text: string(2) });
const all = message({
  number: int(1),
  large: bigInt(2),
  flag: bool(3),
  raw: bytes(4),
  text: string(16),
  one: nested(5, inner),
  many: repeated(nested(200, inner)),
});

const inners = fc.record({ number: fc.maxSafeNat(), text: fc.string({ unit: 'grapheme' }) }, { noNullPrototype: true });
const values = fc.record(
  {
    number: fc.maxSafeNat(),
    large: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    flag: fc.boolean(),
    raw: fc.uint8Array().map((raw) => Buffer.from(raw)),
    text: fc.string({ unit: 'grapheme' }),
    one: fc.option(inners, { nil: undefined }),
    many: fc.array(inners),
  },
  { noNullPrototype: true },
);

test('what is written is read', () => {
  fc.assert(fc.property(values, (value) => assert.deepEqual(all.decode(all.encode(value)), value)));
});

test('bytes are as in the examples of the protobuf documentation', () => {
  assert.equal(inner.encode({ number: 150 }).toString('hex'), '089601');
  assert.equal(inner.encode({ text: 'testing' }).toString('hex'), '120774657374696e67');
  assert.equal(
    message({ inner: part(3, inner) })
      .encode({ inner: { number: 150 } })
      .toString('hex'),
    '1a03089601',
  );
  assert.equal(
    message({ large: bigInt(1) })
      .encode({ large: -2n })
      .toString('hex'),
    '08feffffffffffffffff01',
  );
});

test('fields that are not known are passed over, and those that are missing are zero', () => {
  fc.assert(
    fc.property(values, (value) => {
      assert.deepEqual(message({ flag: bool(3), other: int(7) }).decode(all.encode(value)), {
        flag: value.flag,
        other: 0,
      });
    }),
  );
});

test('a message that is cut short, or is none, is refused', () => {
  const encoded = all.encode({ text: 'testing', one: { number: 1, text: 'inside' } });
  const tooShort = [1, 2, encoded.length - 1].map((length) => encoded.subarray(0, length));
  for (const bad of [...tooShort, Buffer.from('0f', 'hex'), Buffer.from('2a020a05', 'hex')]) {
    assert.throws(() => all.decode(bad), RangeError, bad.toString('hex'));
  }
});
