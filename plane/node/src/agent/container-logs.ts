import { type FileHandle, open } from 'node:fs/promises';
import type { World } from '@castellan/world';
import { keptFrom, type Offsets, type Output, outputPath, outputs } from '../sandbox/log-files.js';
import { LogMarks } from '../sandbox/log-marks.js';
import { type LogPiece, OutputCursor } from '../sandbox/output-cursor.js';
import { lineStart, tailStart } from './line-start.js';
import { Timestamps } from './timestamps.js';

/** A wish for a container's log, as kubectl's options have it. */
export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly follow: boolean;
  /** The last so many lines; all when absent. */
  readonly tailLines?: number;
  /** Since the Unix epoch: what was written before is left out. */
  readonly sinceMs?: number;
  /** Of the container's previous run. */
  readonly previous: boolean;
  readonly limitBytes?: number;
  /** Each line begins with the time at which it was written. */
  readonly timestamps: boolean;
}

/** One start of a container. */
export interface LogSource {
  readonly directory: string;
  isRunning(): boolean;
}

interface OpenOutput {
  readonly output: Output;
  readonly file: FileHandle;
  readonly size: number;
  readonly mtimeMs: number;
}

type Wish = Pick<LogRequest, 'follow' | 'tailLines' | 'sinceMs' | 'limitBytes' | 'timestamps'>;

const lookAgainMs = 100;
const chunkBytes = 64 * 1024;
const newline = 0x0a;

/**
 * Both outputs of a container in the order of their times, line by line, from where the request wants them; with `follow`, on
 * until the container's end or `signal`.
 */
export async function* readLog(
  source: LogSource,
  request: Wish,
  { world, signal }: { readonly world: World; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const files = await openOutputs(source.directory);
  try {
    const marks = new LogMarks(source.directory);
    const starts = await startsOf(source.directory, files, { marks, request });
    const cursors = files.map(({ output, file, size }) => {
      const until = request.follow ? {} : { until: size };
      return new OutputCursor({ directory: source.directory, output, file, marks, from: starts[output], ...until });
    });
    let skip = await surplusLines(source.directory, files, { marks, starts, tailLines: request.tailLines });
    let left = request.limitBytes ?? Number.POSITIVE_INFINITY;
    const lastChangeMs = Math.max(...files.map(({ mtimeMs }) => mtimeMs));
    const stamps = new Timestamps((mark) => {
      // What is not marked yet has just been written; where no plane watches any more, the file knows when.
      return marks.timeMs(mark) ?? (source.isRunning() ? world.clock.now() : lastChangeMs);
    });
    while (left > 0 && !signal.aborted) {
      // Looked at before reading: what is written between the last read and the end is not missed.
      const isEnd = !request.follow || !source.isRunning();
      const piece = await nextPiece(cursors, isEnd);
      if (piece !== undefined) {
        const { bytes, lines } = withoutLines(piece.bytes, skip);
        skip -= lines;
        if (bytes.length === 0) continue;
        const shown = request.timestamps ? stamps.stamp({ ...piece, bytes }) : bytes;
        const part = shown.subarray(0, Math.min(shown.length, left));
        left -= part.length;
        yield part;
      } else if (isEnd) {
        return;
      } else {
        await world.clock.sleep(lookAgainMs, signal).catch(() => undefined);
        marks.refresh();
      }
    }
  } finally {
    await Promise.all(files.map(({ file }) => file.close()));
  }
}

/** What a program writes to one output from now on, as it comes, until its end or `signal`. */
export async function* followOutput(
  source: LogSource,
  output: Output,
  options: { readonly from: number; readonly world: World; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { world, signal } = options;
  const file = await open(outputPath(source.directory, output), 'r');
  try {
    let position = options.from;
    while (!signal.aborted) {
      const wasRunning = source.isRunning();
      const buffer = Buffer.alloc(chunkBytes);
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
      const kept = keptFrom(source.directory)[output];
      if (kept > position) {
        position = kept;
      } else if (bytesRead > 0) {
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      } else if (wasRunning) {
        await world.clock.sleep(lookAgainMs, signal).catch(() => undefined);
      } else {
        return;
      }
    }
  } finally {
    await file.close();
  }
}

async function openOutputs(directory: string): Promise<readonly OpenOutput[]> {
  return await Promise.all(
    outputs.map(async (output) => {
      const file = await open(outputPath(directory, output), 'r');
      const { size, mtimeMs } = await file.stat();
      return { output, file, size, mtimeMs };
    }),
  );
}

/** Where each output begins that is asked for: at the later one of what the options say, and of what is still there. */
async function startsOf(
  directory: string,
  files: readonly OpenOutput[],
  { marks, request }: { readonly marks: LogMarks; readonly request: Wish },
): Promise<Offsets> {
  const { sinceMs, tailLines } = request;
  const kept = keptFrom(directory);
  const before = sinceMs === undefined ? undefined : marks.before(sinceMs);
  const starts = { stdout: 0, stderr: 0 };
  for (const { output, file, size, mtimeMs } of files) {
    const since = before === undefined ? 0 : mtimeMs < (sinceMs ?? 0) ? size : await lineStart(file, before[output]);
    const tail = tailLines === undefined ? 0 : await tailStart(file, { size, from: kept[output], lines: tailLines });
    starts[output] = Math.max(since, tail);
  }
  return starts;
}

/** The last N lines of each output are more than N lines: how many of the first ones are too many. */
async function surplusLines(
  directory: string,
  files: readonly OpenOutput[],
  wish: { readonly marks: LogMarks; readonly starts: Offsets; readonly tailLines: number | undefined },
): Promise<number> {
  const { marks, starts, tailLines } = wish;
  const inUse = files.filter(({ output, size }) => size > starts[output]);
  if (tailLines === undefined || inUse.length < 2) return 0;
  let lines = 0;
  for (const { output, file, size } of inUse) {
    const cursor = new OutputCursor({ directory, output, file, marks, from: starts[output], until: size });
    for (let piece = await cursor.peek(true); piece !== undefined; piece = await cursor.peek(true)) {
      lines += linesIn(piece.bytes);
      cursor.take();
    }
  }
  return Math.max(0, lines - tailLines);
}

/** What was written first of all that is there; of one moment, stdout before stderr. */
async function nextPiece(cursors: readonly OutputCursor[], isEnd: boolean): Promise<LogPiece | undefined> {
  let first: { readonly cursor: OutputCursor; readonly piece: LogPiece } | undefined;
  for (const cursor of cursors) {
    const piece = await cursor.peek(isEnd);
    if (piece !== undefined && (first === undefined || piece.mark < first.piece.mark)) first = { cursor, piece };
  }
  first?.cursor.take();
  return first?.piece;
}

/** Leaves out up to so many lines; `lines` is how many those were. */
function withoutLines(bytes: Buffer, limit: number): { readonly bytes: Buffer; readonly lines: number } {
  let start = 0;
  let lines = 0;
  for (; lines < limit && start < bytes.length; lines += 1) start = bytes.indexOf(newline, start) + 1 || bytes.length;
  return { bytes: bytes.subarray(start), lines };
}

function linesIn(bytes: Buffer): number {
  return withoutLines(bytes, Number.POSITIVE_INFINITY).lines;
}
