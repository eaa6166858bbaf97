/** Reads a stream of chunks by so many bytes as are wanted, whatever the chunks are. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array(0);
  #position = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  /** Bytes read so far. */
  get position(): number {
    return this.#position;
  }

  /** Exactly so many bytes, or fewer at the end. For small parts: all of it is in memory. */
  async read(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.take(length)) parts.push(part);
    return Buffer.concat(parts);
  }

  /** So many bytes, as they come; fewer at the end. */
  async *take(length: number): AsyncGenerator<Uint8Array> {
    let wanted = length;
    while (wanted > 0) {
      if (this.#rest.length === 0 && !(await this.#fill())) return;
      const part = this.#rest.subarray(0, wanted);
      this.#rest = this.#rest.subarray(part.length);
      this.#position += part.length;
      wanted -= part.length;
      yield part;
    }
  }

  /** Passes over so many bytes. */
  async skip(length: number): Promise<void> {
    let skipped = 0;
    for await (const part of this.take(length)) skipped += part.length;
    if (skipped < length) throw new Error(`the data ends ${length - skipped} bytes too early`);
  }

  /** Reads to the end, for whoever checks what is behind the data. */
  async drain(): Promise<void> {
    this.#rest = new Uint8Array(0);
    while (await this.#fill());
  }

  async #fill(): Promise<boolean> {
    const next = await this.#chunks.next();
    if (next.done === true) return false;
    this.#rest = next.value;
    return true;
  }
}
