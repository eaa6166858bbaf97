import type { Random } from './world.js';

/** Kubernetes' alphabet of generated names: no vowels and no 0, 1 or 3, so that no words come out. */
export const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

/** Builds the rest of `Random` upon a source of uniformly distributed unsigned 32-bit integers. */
export function randomFrom(uint32: () => number): Random {
  const below = (limit: number) => Math.floor((uint32() / 2 ** 32) * limit);
  return {
    // 53 bits, as many as a double's fraction holds.
    next: () => ((uint32() >>> 5) * 2 ** 26 + (uint32() >>> 6)) / 2 ** 53,
    string: (length, alphabet = nameAlphabet) =>
      Array.from({ length }, () => alphabet[below(alphabet.length)]).join(''),
    uuid: () => uuidOf([uint32(), uint32(), uint32(), uint32()]),
  };
}

/** RFC 9562 version 4 of 128 random bits. */
function uuidOf(words: readonly number[]): string {
  const hex = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) % 4)).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}

/** A stream of unsigned 32-bit integers that depends on `seed` only: sfc32 of PractRand, seeded by splitmix32. */
export function seededUint32(seed: number): () => number {
  let state = seed | 0;
  const splitmix32 = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
  let a = splitmix32();
  let b = splitmix32();
  let c = splitmix32();
  let counter = 1;
  const sfc32 = () => {
    const output = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + output) | 0;
    return output >>> 0;
  };
  // The first outputs still look like the seed.
  for (let round = 0; round < 12; round += 1) sfc32();
  return sfc32;
}
