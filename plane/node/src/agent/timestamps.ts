import type { LogPiece } from '../sandbox/output-cursor.js';

const newline = 0x0a;

/** Puts before each line the time at which it was written, as RFC 3339 with nanoseconds, of which the last six are 0. */
export class Timestamps {
  readonly #timeMs: (mark: number) => number;
  #isLineStart = true;

  constructor(timeMs: (mark: number) => number) {
    this.#timeMs = timeMs;
  }

  stamp({ bytes, mark }: LogPiece): Buffer {
    const time = Buffer.from(`${new Date(this.#timeMs(mark)).toISOString().slice(0, -1)}000000Z `);
    const parts: Buffer[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(newline, start) + 1 || bytes.length;
      if (this.#isLineStart) parts.push(time);
      parts.push(bytes.subarray(start, end));
      this.#isLineStart = bytes[end - 1] === newline;
      start = end;
    }
    return Buffer.concat(parts);
  }
}
