const blockBytes = 64;
const rounds = 20;
/** `expand 32-byte k` */
const constants = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
/** Where the quarter rounds of a double round take their words: columns, then rows. */
const quarters = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const;

/**
 * The first `length` bytes of the XSalsa20 key stream of a key of 32 bytes and a nonce of 24. node:crypto has none.
 * Source: D. J. Bernstein, "Extending the Salsa20 nonce" and "The Salsa20 family of stream ciphers".
 */
export function xsalsa20(key: Uint8Array, nonce: Uint8Array, length: number): Buffer {
  const derived = hsalsa20(wordsOf(key), wordsOf(nonce.subarray(0, 16)));
  const stream = Buffer.alloc(Math.ceil(length / blockBytes) * blockBytes);
  const [first = 0, second = 0] = wordsOf(nonce.subarray(16, 24));
  for (let block = 0; block * blockBytes < length; block += 1) {
    const input = stateOf(derived, [first, second, block, 0]);
    const mixed = mix(input);
    for (let word = 0; word < 16; word += 1) {
      stream.writeUInt32LE(((mixed[word] ?? 0) + (input[word] ?? 0)) >>> 0, block * blockBytes + 4 * word);
    }
  }
  return stream.subarray(0, length);
}

/** A key for Salsa20 from a key and the first 16 bytes of a long nonce. */
function hsalsa20(key: readonly number[], nonce: readonly number[]): readonly number[] {
  const mixed = mix(stateOf(key, nonce));
  return [0, 5, 10, 15, 6, 7, 8, 9].map((word) => mixed[word] ?? 0);
}

function stateOf(key: readonly number[], middle: readonly number[]): Int32Array {
  const [one, two, three, four] = constants;
  return Int32Array.of(one, ...key.slice(0, 4), two, ...middle, three, ...key.slice(4), four);
}

function mix(input: Int32Array): Int32Array {
  const state = Int32Array.from(input);
  for (let round = 0; round < rounds; round += 2) {
    for (const [a, b, c, d] of quarters) {
      state[b] = (state[b] ?? 0) ^ rotated((state[a] ?? 0) + (state[d] ?? 0), 7);
      state[c] = (state[c] ?? 0) ^ rotated((state[b] ?? 0) + (state[a] ?? 0), 9);
      state[d] = (state[d] ?? 0) ^ rotated((state[c] ?? 0) + (state[b] ?? 0), 13);
      state[a] = (state[a] ?? 0) ^ rotated((state[d] ?? 0) + (state[c] ?? 0), 18);
    }
  }
  return state;
}

function rotated(word: number, bits: number): number {
  return (word << bits) | ((word | 0) >>> (32 - bits));
}

function wordsOf(bytes: Uint8Array): readonly number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 4 }, (_, index) => view.getInt32(4 * index, true));
}
