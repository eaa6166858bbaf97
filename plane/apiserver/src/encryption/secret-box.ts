import { timingSafeEqual } from 'node:crypto';
import { poly1305 } from './poly1305.js';
import { xsalsa20 } from './salsa20.js';

const tagBytes = 16;
/** The key stream begins with the key of Poly1305. */
const oneTimeKeyBytes = 32;

/**
 * NaCl's secretbox, XSalsa20-Poly1305: the tag (16 bytes) and the ciphertext. Key of 32 bytes, nonce of 24, never the same
 * nonce twice. Source: D. J. Bernstein, "Cryptography in NaCl", section 9 and 10.
 */
export function sealBox(key: Uint8Array, nonce: Uint8Array, message: Uint8Array): Buffer {
  const stream = xsalsa20(key, nonce, oneTimeKeyBytes + message.length);
  const ciphertext = xored(message, stream.subarray(oneTimeKeyBytes));
  return Buffer.concat([poly1305(stream.subarray(0, oneTimeKeyBytes), ciphertext), ciphertext]);
}

/** The message; `undefined` when the box was not made with this key and nonce, or was changed. */
export function openBox(key: Uint8Array, nonce: Uint8Array, box: Uint8Array): Buffer | undefined {
  if (box.length < tagBytes) return undefined;
  const ciphertext = box.subarray(tagBytes);
  const stream = xsalsa20(key, nonce, oneTimeKeyBytes + ciphertext.length);
  const tag = poly1305(stream.subarray(0, oneTimeKeyBytes), ciphertext);
  if (!timingSafeEqual(tag, box.subarray(0, tagBytes))) return undefined;
  return xored(ciphertext, stream.subarray(oneTimeKeyBytes));
}

function xored(bytes: Uint8Array, stream: Uint8Array): Buffer {
  return Buffer.from(bytes.map((byte, index) => byte ^ (stream[index] ?? 0)));
}
