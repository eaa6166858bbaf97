/** Digits and consonants: no hash of these spells a word. The same as upstream's, since hashes are parts of names that people read. */
const safeCharacters = 'bcdfghjklmnpqrstvwxz2456789';

/** Fowler–Noll–Vo, FNV-1, of 32 bits, in decimal and then in safe characters: up to ten of them. */
export function safeHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = (Math.imul(hash, 0x01000193) ^ byte) >>> 0;
  return [...String(hash)].map((digit) => safeCharacters.charAt(digit.charCodeAt(0) % safeCharacters.length)).join('');
}
