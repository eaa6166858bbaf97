import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { PackedBody } from './packed-body.js';

test('pieces joined are the parts joined, and all but the last are full', () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 });
  fc.assert(
    fc.property(parts, fc.integer({ min: 1, max: 16 }), (of, size) => {
      const body = new PackedBody(of);
      const pieces: Buffer[] = [];
      const buffer = new Uint8Array(size);
      while (!body.isAtEnd) pieces.push(Buffer.from(buffer.subarray(0, body.read(buffer))));
      assert.deepEqual(Buffer.concat(pieces), Buffer.concat(of));
      assert.ok(pieces.slice(0, -1).every((piece) => piece.length === size));
      assert.equal(body.read(buffer), 0);
    }),
  );
});
