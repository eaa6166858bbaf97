import { type FileHandle, open } from 'node:fs/promises';
import type { World } from '@castellan/world';
import { type LogTimes, readLogTimes } from '../sandbox/log-times.js';

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

export interface LogSource {
  readonly path: string;
  /** Where to begin, in bytes, whatever the request wants. */
  readonly from?: number;
  isRunning(): boolean;
}

const chunkBytes = 64 * 1024;
const lookAgainMs = 100;
const newline = 0x0a;

/** The bytes of a log from where the request wants them; with `follow`, on until the container's end or `signal`. */
export async function* readLog(
  source: LogSource,
  request: LogRequest,
  { world, signal }: { readonly world: World; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const file = await open(source.path, 'r');
  try {
    const { size, mtimeMs } = await file.stat();
    const times = readLogTimes(source.path);
    let position = source.from ?? (await startOf(file, { size, mtimeMs, times, request }));
    let left = request.limitBytes ?? Number.POSITIVE_INFINITY;
    // What is not marked yet has just been written; where no plane watches any more, the file knows when.
    const timeAt = (offset: number) => times.at(offset) ?? (offset < size ? mtimeMs : world.clock.now());
    const stamp = request.timestamps ? lineStamper(timeAt) : undefined;
    while (left > 0 && !signal.aborted) {
      // Looked at before reading: what is written between the last read and the end is not missed.
      const wasRunning = source.isRunning();
      const buffer = Buffer.alloc(chunkBytes);
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
      if (bytesRead > 0) {
        const written = buffer.subarray(0, bytesRead);
        const bytes = stamp === undefined ? written : stamp(written, position);
        const part = bytes.subarray(0, Math.min(bytes.length, left));
        position += bytesRead;
        left -= part.length;
        yield part;
      } else if (request.follow && wasRunning) {
        await world.clock.sleep(lookAgainMs, signal).catch(() => undefined);
      } else {
        return;
      }
    }
  } finally {
    await file.close();
  }
}

/** Where the log begins that is asked for: at the later one of what the two options say. */
async function startOf(
  file: FileHandle,
  log: { readonly size: number; readonly mtimeMs: number; readonly times: LogTimes; readonly request: LogRequest },
): Promise<number> {
  const { size, mtimeMs, times, request } = log;
  const tail = request.tailLines === undefined ? 0 : await tailPosition(file, size, request.tailLines);
  if (request.sinceMs === undefined) return tail;
  if (mtimeMs < request.sinceMs) return size;
  return Math.max(tail, await lineStart(file, size, times.before(request.sinceMs)));
}

/** The first beginning of a line at `offset` or after it. */
async function lineStart(file: FileHandle, size: number, offset: number): Promise<number> {
  if (offset === 0) return 0;
  for (let start = offset - 1; start < size; start += chunkBytes) {
    const buffer = Buffer.alloc(Math.min(chunkBytes, size - start));
    await file.read(buffer, 0, buffer.length, start);
    const end = buffer.indexOf(newline);
    if (end >= 0) return start + end + 1;
  }
  return size;
}

/** Where the last `lines` lines begin. A line that is not ended yet counts as one. */
async function tailPosition(file: FileHandle, size: number, lines: number): Promise<number> {
  if (lines <= 0) return size;
  let found = 0;
  for (let end = size; end > 0; end -= Math.min(end, chunkBytes)) {
    const start = Math.max(0, end - chunkBytes);
    const buffer = Buffer.alloc(end - start);
    await file.read(buffer, 0, buffer.length, start);
    for (let index = buffer.length - 1; index >= 0; index -= 1) {
      if (buffer[index] !== newline || start + index === size - 1) continue;
      found += 1;
      if (found === lines) return start + index + 1;
    }
  }
  return 0;
}

function lineStamper(timeAt: (offset: number) => number): (bytes: Buffer, offset: number) => Buffer {
  let isLineStart = true;
  return (bytes, offset) => {
    const parts: Buffer[] = [];
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(newline, start) + 1 || bytes.length;
      if (isLineStart)
        parts.push(Buffer.from(`${new Date(timeAt(offset + start)).toISOString().slice(0, -1)}000000Z `));
      parts.push(bytes.subarray(start, end));
      isLineStart = bytes[end - 1] === newline;
      start = end;
    }
    return Buffer.concat(parts);
  };
}
