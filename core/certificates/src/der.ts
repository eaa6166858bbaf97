/**
 * The few ASN.1 values that a certificate is made of, in DER: tag, length, content. Source: ITU-T X.690.
 */
const universal = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8: 0x0c,
  time: 0x17,
  generalizedTime: 0x18,
};
const sequenceTag = 0x30;
const setTag = 0x31;

export function sequence(...children: readonly Uint8Array[]): Uint8Array {
  return encode(sequenceTag, Buffer.concat(children));
}

export function setOf(...children: readonly Uint8Array[]): Uint8Array {
  return encode(setTag, Buffer.concat(children));
}

/** `bytes` is an unsigned number, most significant byte first. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  const significant = first < 0 ? Buffer.of(0) : Buffer.from(bytes.subarray(first));
  const isNegative = (significant[0] ?? 0) >= 0x80;
  return encode(universal.integer, isNegative ? Buffer.concat([Buffer.of(0), significant]) : significant);
}

export function boolean(value: boolean): Uint8Array {
  return encode(universal.boolean, Buffer.of(value ? 0xff : 0));
}

export function octetString(content: Uint8Array): Uint8Array {
  return encode(universal.octetString, content);
}

/** Bits that fill whole bytes but for `unusedBits` at the end. */
export function bitString(content: Uint8Array, unusedBits = 0): Uint8Array {
  return encode(universal.bitString, Buffer.concat([Buffer.of(unusedBits), content]));
}

export function utf8String(text: string): Uint8Array {
  return encode(universal.utf8, Buffer.from(text, 'utf8'));
}

/** `2.5.4.3` */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second, ...rest.flatMap(base128)];
  return encode(universal.oid, Buffer.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime after, as RFC 5280 wants. */
export function time(epochMs: number): Uint8Array {
  const iso = new Date(epochMs).toISOString().replace(/[-:T]|\.\d+/g, '');
  return Number(iso.slice(0, 4)) < 2050
    ? encode(universal.time, Buffer.from(iso.slice(2), 'ascii'))
    : encode(universal.generalizedTime, Buffer.from(iso, 'ascii'));
}

/** `[number] content`, constructed (around other values) or primitive (around bytes). */
export function contextual(number: number, content: Uint8Array, isConstructed: boolean): Uint8Array {
  return encode(0x80 | (isConstructed ? 0x20 : 0) | number, content);
}

function encode(tag: number, content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.of(tag), length(content.length), content]);
}

function length(bytes: number): Uint8Array {
  if (bytes < 0x80) return Buffer.of(bytes);
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.of(0x80 | digits.length, ...digits);
}

function base128(value: number): readonly number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(0x80 | (rest % 128));
  return digits;
}
