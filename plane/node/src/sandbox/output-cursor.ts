import type { FileHandle } from 'node:fs/promises';
import { keptFrom, type Output } from './log-files.js';
import type { LogMarks } from './log-marks.js';

/** Whole lines of one output that were written at one time; at the end of a log, or of a line without end, a part of one. */
export interface LogPiece {
  readonly bytes: Buffer;
  /** The number of the mark that tells when; see LogMarks. */
  readonly mark: number;
}

export interface CursorOptions {
  readonly directory: string;
  readonly output: Output;
  readonly file: FileHandle;
  readonly marks: LogMarks;
  /** Where a line begins. */
  readonly from: number;
  /** Not read beyond it; absent: as far as there is something. */
  readonly until?: number;
}

const chunkBytes = 64 * 1024;
/** A line that is longer comes in parts. */
const lineLimitBytes = 64 * 1024;
const newline = 0x0a;

/** Reads one output of a container, whole lines at a time, while it may grow at its end and be cut at its beginning. */
export class OutputCursor {
  readonly #options: CursorOptions;
  #position: number;
  #buffer: Buffer = Buffer.alloc(0);
  #isInGap = false;
  #next: LogPiece | undefined;

  constructor(options: CursorOptions) {
    this.#options = options;
    this.#position = options.from;
  }

  /** What comes next; `isEnd`: what is there is all there is, so that a line without its end counts as well. */
  async peek(isEnd: boolean): Promise<LogPiece | undefined> {
    for (;;) {
      this.#next ??= this.#wholeLines();
      if (this.#next !== undefined) return this.#next;
      if (await this.#fill()) continue;
      if (isEnd && this.#buffer.length > 0) this.#next = this.#piece(this.#buffer.length);
      return this.#next;
    }
  }

  /** The piece that was peeked at is done with. */
  take(): void {
    const length = this.#next?.bytes.length ?? 0;
    this.#buffer = this.#buffer.subarray(length);
    this.#position += length;
    this.#next = undefined;
  }

  #wholeLines(): LogPiece | undefined {
    const { marks, output } = this.#options;
    const end = this.#buffer.indexOf(newline);
    if (end < 0) return this.#buffer.length < lineLimitBytes ? undefined : this.#piece(this.#buffer.length);
    const mark = marks.of(output, this.#position + end);
    const sameTime = Math.min(this.#buffer.length, marks.size(mark, output) - this.#position);
    return { bytes: this.#buffer.subarray(0, this.#buffer.lastIndexOf(newline, sameTime - 1) + 1), mark };
  }

  /** A line has the time at which its end was written. */
  #piece(length: number): LogPiece {
    const { marks, output } = this.#options;
    return { bytes: this.#buffer.subarray(0, length), mark: marks.of(output, this.#position + length - 1) };
  }

  /** Reads on. `false` when there is no more. */
  async #fill(): Promise<boolean> {
    const { file, directory, output, until = Number.POSITIVE_INFINITY } = this.#options;
    const start = this.#position + this.#buffer.length;
    const length = Math.min(chunkBytes, until - start);
    if (length <= 0) return false;
    const chunk = Buffer.alloc(length);
    const { bytesRead } = await file.read(chunk, 0, length, start);
    const kept = keptFrom(directory)[output];
    // Looked at after reading: what was read before a cut is whole.
    if (kept > start) {
      this.#goTo(kept, true);
      return true;
    }
    if (bytesRead > 0) this.#append(chunk.subarray(0, bytesRead));
    return bytesRead > 0 || (await this.#wasEmptied(start));
  }

  #append(chunk: Buffer): void {
    if (!this.#isInGap) {
      this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
      return;
    }
    const end = chunk.indexOf(newline) + 1;
    this.#isInGap = end === 0;
    this.#position += end || chunk.length;
    this.#buffer = end === 0 ? this.#buffer : chunk.subarray(end);
  }

  /** A program that opens its output anew may empty it. */
  async #wasEmptied(end: number): Promise<boolean> {
    const { size } = await this.#options.file.stat();
    if (size >= end) return false;
    this.#goTo(0, false);
    return true;
  }

  /** `isInGap`: somewhere in a line, whose rest is left out. */
  #goTo(position: number, isInGap: boolean): void {
    this.#position = position;
    this.#isInGap = isInGap;
    this.#buffer = Buffer.alloc(0);
  }
}
