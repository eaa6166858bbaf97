import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Offsets, Output } from './log-files.js';

/** How much of each output was there at a time. */
export interface Mark extends Offsets {
  /** In milliseconds since the Unix epoch. */
  readonly atMs: number;
}

/** Three numbers of eight bytes: the time, and how long stdout and stderr were by then. */
const markBytes = 24;
const columns: Readonly<Record<keyof Mark, number>> = { atMs: 0, stdout: 8, stderr: 16 };

/** When the parts of a container's outputs were written, as it was noted down; in the order of time. */
export class LogMarks {
  readonly #path: string;
  /** Of which the first `#length` are in use. */
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #inode: number | undefined;

  constructor(directory: string) {
    this.#path = marksPath(directory);
    this.refresh();
  }

  /** Takes in what was noted meanwhile; all of it anew when the marks were written anew. */
  refresh(): void {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    if (stat === undefined || (stat.ino === this.#inode && stat.size === this.#length)) return;
    const file = openSync(this.#path, 'r');
    try {
      const { ino, size } = fstatSync(file);
      if (ino !== this.#inode) this.#length = 0;
      this.#inode = ino;
      if (size > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], 2 * size);
      this.#length += readSync(file, this.#bytes, this.#length, size - this.#length, this.#length);
    } finally {
      closeSync(file);
    }
  }

  get count(): number {
    return Math.floor(this.#length / markBytes);
  }

  /** The number of the mark by which this byte of an output was there; `count` when none tells. */
  of(output: Output, offset: number): number {
    return this.#first((index) => this.#at(index, output) > offset);
  }

  /** How long an output was at a mark; without end beyond the last mark. */
  size(index: number, output: Output): number {
    return index < this.count ? this.#at(index, output) : Number.POSITIVE_INFINITY;
  }

  /** `undefined` beyond the last mark. */
  timeMs(index: number): number | undefined {
    return index < this.count ? this.#at(index, 'atMs') : undefined;
  }

  /** How much of each output was there before a time. */
  before(sinceMs: number): Offsets {
    return this.mark(this.#first((index) => this.#at(index, 'atMs') >= sinceMs) - 1) ?? { stdout: 0, stderr: 0 };
  }

  mark(index: number): Mark | undefined {
    if (index < 0 || index >= this.count) return undefined;
    return { atMs: this.#at(index, 'atMs'), stdout: this.#at(index, 'stdout'), stderr: this.#at(index, 'stderr') };
  }

  #at(index: number, column: keyof Mark): number {
    return this.#bytes.readDoubleBE(index * markBytes + columns[column]);
  }

  #first(isWanted: (index: number) => boolean): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (isWanted(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

export function addMark(directory: string, mark: Mark): void {
  appendFileSync(marksPath(directory), encode(mark));
}

/** Of their file, in bytes. */
export function marksSize(directory: string): number {
  return statSync(marksPath(directory), { throwIfNoEntry: false })?.size ?? 0;
}

/** Writes the marks anew, each as `change` gives it; `undefined` leaves it out. */
export function rewriteMarks(directory: string, change: (mark: Mark, index: number) => Mark | undefined): void {
  const path = marksPath(directory);
  if (!existsSync(path)) return;
  const marks = new LogMarks(directory);
  const kept: Buffer[] = [];
  for (let index = 0; index < marks.count; index += 1) {
    const mark = marks.mark(index);
    const changed = mark === undefined ? undefined : change(mark, index);
    if (changed !== undefined) kept.push(encode(changed));
  }
  writeFileSync(`${path}.new`, Buffer.concat(kept));
  renameSync(`${path}.new`, path);
}

function encode(mark: Mark): Buffer {
  const bytes = Buffer.alloc(markBytes);
  for (const column of ['atMs', 'stdout', 'stderr'] as const) bytes.writeDoubleBE(mark[column], columns[column]);
  return bytes;
}

function marksPath(directory: string): string {
  return join(directory, 'output-marks');
}
