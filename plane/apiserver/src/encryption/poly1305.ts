/** So many bits of a number are in one limb: six of them hold 132 bits, and no sum of products reaches 2^53. */
const limbBits = 22;
const limbSize = 2 ** limbBits;
const limbs = 6;
/** 2^132 is 20 modulo 2^130 − 5. */
const wrapFactor = 20;
const blockBytes = 16;
const prime = 2n ** 130n - 5n;

/**
 * Poly1305: 16 bytes that authenticate `message` under a key of 32 bytes that is used once. Source: RFC 8439 section 2.5.
 * node:crypto has it only together with ChaCha20.
 */
export function poly1305(key: Uint8Array, message: Uint8Array): Buffer {
  const multiplier = limbsOf(clamped(key.subarray(0, blockBytes)), 0);
  let sum: Float64Array = new Float64Array(limbs);
  for (let from = 0; from < message.length; from += blockBytes) {
    const block = message.subarray(from, from + blockBytes);
    add(sum, limbsOf(block, 1));
    sum = multiply(sum, multiplier);
  }
  const tag = (bigOf(sum) % prime) + littleEndian(key.subarray(blockBytes, 2 * blockBytes));
  return bytesOf(tag % 2n ** 128n);
}

/** The bits of the first half of the key that RFC 8439 wants to be 0. */
function clamped(part: Uint8Array): Uint8Array {
  return part.map((byte, index) => byte & (index % 4 === 3 ? 0x0f : index % 4 === 0 && index > 0 ? 0xfc : 0xff));
}

/** The bytes as a little-endian number, with `top` as one byte more. */
function limbsOf(bytes: Uint8Array, top: number): Float64Array {
  const number = new Float64Array(limbs);
  let bits = 0;
  let held = 0;
  let limb = 0;
  for (let index = 0; index <= bytes.length; index += 1) {
    held += (bytes[index] ?? top) * 2 ** bits;
    bits += 8;
    if (bits < limbBits) continue;
    number[limb] = held % limbSize;
    limb += 1;
    held = Math.floor(held / limbSize);
    bits -= limbBits;
  }
  number[limb] = held;
  return number;
}

function add(sum: Float64Array, other: Float64Array): void {
  for (let limb = 0; limb < limbs; limb += 1) sum[limb] = (sum[limb] ?? 0) + (other[limb] ?? 0);
}

/** The product modulo 2^132 − 20, with limbs below 2^22 but for the first, which may be a little greater. */
function multiply(left: Float64Array, right: Float64Array): Float64Array {
  const product = new Float64Array(limbs);
  for (let i = 0; i < limbs; i += 1) {
    const factor = left[i] ?? 0;
    for (let j = 0; j < limbs; j += 1) {
      const isWrapped = i + j >= limbs;
      const limb = isWrapped ? i + j - limbs : i + j;
      product[limb] = (product[limb] ?? 0) + factor * (right[j] ?? 0) * (isWrapped ? wrapFactor : 1);
    }
  }
  let carry = 0;
  for (let limb = 0; limb < limbs; limb += 1) {
    const total = (product[limb] ?? 0) + carry;
    carry = Math.floor(total / limbSize);
    product[limb] = total - carry * limbSize;
  }
  const first = (product[0] ?? 0) + carry * wrapFactor;
  const over = Math.floor(first / limbSize);
  product[0] = first - over * limbSize;
  product[1] = (product[1] ?? 0) + over;
  return product;
}

function bigOf(number: Float64Array): bigint {
  return number.reduceRight((total, limb) => total * BigInt(limbSize) + BigInt(limb), 0n);
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((total, byte) => total * 256n + BigInt(byte), 0n);
}

function bytesOf(number: bigint): Buffer {
  return Buffer.from(number.toString(16).padStart(2 * blockBytes, '0'), 'hex').reverse();
}
