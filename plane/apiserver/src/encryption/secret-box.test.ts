import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { poly1305 } from './poly1305.js';
import { openBox, sealBox } from './secret-box.js';

const hex = (text: string) => Buffer.from(text, 'hex');

// "Cryptography in NaCl", the example of sections 8 to 10.
const key = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
const message = hex(
  'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f4' +
    '1db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52' +
    'f0a089bc76897040e082f937763848645e0705',
);
const box = hex(
  'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186ac0dfc17c98dce87b' +
    '4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae90224368517acfeabd6bb3732bc0e9da' +
    '99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74e355a5',
);

test('a secretbox is the published one, and opens again', () => {
  assert.equal(sealBox(key, nonce, message).toString('hex'), box.toString('hex'));
  assert.equal(openBox(key, nonce, box)?.toString('hex'), message.toString('hex'));
});

test('a secretbox of which one bit is another, or with a part missing, does not open', () => {
  for (let bit = 0; bit < box.length * 8; bit += 37) {
    const changed = Buffer.from(box);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(openBox(key, nonce, changed), undefined, `bit ${bit}`);
  }
  assert.equal(openBox(key, nonce, box.subarray(0, 40)), undefined);
  assert.equal(openBox(key, nonce, box.subarray(0, 15)), undefined);
});

test('Poly1305 gives the tag of RFC 8439, 2.5.2', () => {
  const oneTimeKey = hex('85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b');
  const tag = poly1305(oneTimeKey, Buffer.from('Cryptographic Forum Research Group'));
  assert.equal(tag.toString('hex'), 'a8061dc1305136c6c22b8baf0c0127a9');
});

test('Poly1305 is the polynomial of its definition, also where limbs carry', () => {
  const extreme = fc.oneof(fc.nat(255), fc.constantFrom(0, 0xff));
  const bytes = (length: { minLength: number; maxLength: number }) =>
    fc.array(extreme, length).map((list) => Buffer.from(list));
  fc.assert(
    fc.property(bytes({ minLength: 32, maxLength: 32 }), bytes({ minLength: 0, maxLength: 100 }), (oneTime, text) => {
      assert.equal(poly1305(oneTime, text).toString('hex'), naivePoly1305(oneTime, text));
    }),
    { numRuns: 500 },
  );
});

function naivePoly1305(oneTimeKey: Buffer, text: Buffer): string {
  const number = (part: Uint8Array) => BigInt(`0x${Buffer.from(part).reverse().toString('hex') || '0'}`);
  const factor = number(oneTimeKey.subarray(0, 16)) & 0x0ffffffc0ffffffc0ffffffc0fffffffn;
  let sum = 0n;
  for (let from = 0; from < text.length; from += 16) {
    const block = Buffer.concat([text.subarray(from, from + 16), Buffer.from([1])]);
    sum = ((sum + number(block)) * factor) % (2n ** 130n - 5n);
  }
  const tag = (sum + number(oneTimeKey.subarray(16))) % 2n ** 128n;
  return Buffer.from(tag.toString(16).padStart(32, '0'), 'hex').reverse().toString('hex');
}
