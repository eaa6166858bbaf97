/** One ASN.1 value in DER: ITU-T X.690. */
export interface DerValue {
  readonly tag: number;
  /** What is within: bytes, or other values. */
  readonly content: Uint8Array;
  /** With tag and length. */
  readonly whole: Uint8Array;
}

/** The values that follow one another in these bytes. @throws TypeError for bytes that are none */
export function readDer(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = [];
  for (let place = 0; place < bytes.length; ) {
    const value = readValue(bytes.subarray(place));
    values.push(value);
    place += value.whole.length;
  }
  return values;
}

/** Exactly one value with this tag. @throws TypeError */
export function expectDer(value: DerValue | undefined, tag: number, what: string): DerValue {
  if (value?.tag !== tag) throw new TypeError(`there is no ${what} where one must be`);
  return value;
}

/** `2.5.4.3` of an object identifier's content. */
export function dottedOid(content: Uint8Array): string {
  const numbers: number[] = [];
  let number = 0;
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    numbers.push(number);
    number = 0;
  }
  const [head = 0, ...rest] = numbers;
  const first = Math.min(Math.floor(head / 40), 2);
  return [first, head - first * 40, ...rest].join('.');
}

function readValue(bytes: Uint8Array): DerValue {
  const [tag = 0, first = 0] = bytes;
  const digits = first < 0x80 ? 0 : first & 0x7f;
  // Four digits are lengths up to 4 GB; none is the form without a length, which DER does not have.
  if (bytes.length < 2 || first === 0x80 || digits > 4 || (tag & 0x1f) === 0x1f) throw notDer();
  const length = digits === 0 ? first : bytes.subarray(2, 2 + digits).reduce((sum, digit) => sum * 256 + digit, 0);
  const start = 2 + digits;
  if (bytes.length < start + length) throw notDer();
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(0, start + length) };
}

function notDer(): TypeError {
  return new TypeError('the bytes are not DER, or are cut off');
}
