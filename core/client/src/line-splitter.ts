import { StringDecoder } from 'node:string_decoder';

/** Cuts UTF-8 chunks into lines. A line may span any number of chunks; each chunk is looked through once. */
export class LineSplitter {
  readonly #decoder = new StringDecoder('utf8');
  readonly #maxLength: number;
  #pending = '';

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The lines that `chunk` completes, without their ends; throws RangeError when a line is longer than the limit. */
  push(chunk: Uint8Array): readonly string[] {
    const text = this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    const lines: string[] = [];
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      lines.push(from === 0 ? this.#pending + text.slice(0, end) : text.slice(from, end));
      if (from === 0) this.#pending = '';
      from = end + 1;
    }
    this.#pending = from === 0 ? this.#pending + text : text.slice(from);
    if (this.#pending.length > this.#maxLength) {
      throw new RangeError(`a line is longer than ${this.#maxLength} characters`);
    }
    return lines;
  }

  /** Whether a line was begun and not ended. */
  get hasPending(): boolean {
    return this.#pending !== '';
  }
}
