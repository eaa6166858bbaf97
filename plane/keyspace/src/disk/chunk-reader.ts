import type { ReadableFile } from './file-system.js';

const CHUNK_BYTES = 1024 * 1024;

/** Reads a file from front to back; while one chunk is worked on, the next is read. Two buffers serve for all of it. */
export class ChunkReader {
  readonly #file: ReadableFile;
  readonly #chunkBytes: number;
  /** Each has room for a chunk, and before it for what the chunk before left over. */
  #present: Buffer;
  #other: Buffer;
  #reading: Promise<number> | undefined;
  #position = 0;

  constructor(file: ReadableFile) {
    this.#file = file;
    this.#chunkBytes = Math.min(CHUNK_BYTES, file.sizeBytes);
    this.#present = Buffer.allocUnsafeSlow(2 * this.#chunkBytes);
    this.#other = Buffer.allocUnsafeSlow(2 * this.#chunkBytes);
    this.#readAhead();
  }

  /**
   * `rest`, the end of what this gave before, followed by the next chunk; `undefined` at the end of the file. What it gave
   * before is overwritten.
   */
  async next(rest: Buffer): Promise<Buffer | undefined> {
    if (this.#reading === undefined) return undefined;
    const length = await this.#reading;
    [this.#present, this.#other] = [this.#other, this.#present];
    const chunk = this.#present.subarray(this.#chunkBytes, this.#chunkBytes + length);
    const joined = this.#join(rest, chunk);
    this.#position = length === 0 ? this.#file.sizeBytes : this.#position + length;
    this.#readAhead();
    return joined;
  }

  /** The file must not be closed before this resolves. */
  async close(): Promise<void> {
    // Nobody wants the rest any more, and so not what reading it may fail with.
    await this.#reading?.catch(() => undefined);
  }

  #readAhead(): void {
    const isAtEnd = this.#position >= this.#file.sizeBytes;
    this.#reading = isAtEnd ? undefined : this.#file.read(this.#position, this.#other.subarray(this.#chunkBytes));
  }

  #join(rest: Buffer, chunk: Buffer): Buffer {
    // A frame larger than a chunk, which is rare.
    if (rest.length > this.#chunkBytes) return Buffer.concat([rest, chunk]);
    const start = this.#chunkBytes - rest.length;
    rest.copy(this.#present, start);
    return this.#present.subarray(start, this.#chunkBytes + chunk.length);
  }
}
