/** Appends numbers, strings and bytes to a buffer that grows. */
export class ByteWriter {
  #buffer: Buffer;
  #length = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** What was written; valid until the next `reset`. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Starts anew behind `length` bytes, which the caller fills in `bytes` later. */
  reset(length: number): void {
    this.#length = length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.#length++] = value;
  }

  /** A whole number from 0 to 2^53 - 1, seven bits to a byte, the lowest first. */
  number(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) + 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#length++] = rest;
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.number(length);
    this.#reserve(length);
    this.#length += this.#buffer.write(value, this.#length, length);
  }

  data(value: Uint8Array): void {
    this.number(value.length);
    this.#reserve(value.length);
    this.#buffer.set(value, this.#length);
    this.#length += value.length;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#length = this.#buffer.writeDoubleLE(value, this.#length);
  }

  #reserve(length: number): void {
    const needed = this.#length + length;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** Reads what a `ByteWriter` wrote. Throws a RangeError past the end. */
export class ByteReader {
  readonly #buffer: Buffer;
  #position = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  get isAtEnd(): boolean {
    return this.#position >= this.#buffer.length;
  }

  byte(): number {
    const value = this.#buffer[this.#position++];
    if (value === undefined) throw new RangeError('an entry is cut short');
    return value;
  }

  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  text(): string {
    const start = this.#skip(this.number());
    return this.#buffer.toString('utf8', start, this.#position);
  }

  /** The bytes are those of the buffer that is read: copy them before it is used again. */
  data(): Buffer {
    const start = this.#skip(this.number());
    return this.#buffer.subarray(start, this.#position);
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#skip(8));
  }

  #skip(length: number): number {
    const start = this.#position;
    this.#position += length;
    if (this.#position > this.#buffer.length) throw new RangeError('an entry is cut short');
    return start;
  }
}
