import { type FileHandle, open } from 'node:fs/promises';
import type { World } from '@castellan/world';

/** A wish for a container's log, as kubectl's options have it. */
export interface LogRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly follow: boolean;
  /** The last so many lines; all when absent. */
  readonly tailLines?: number;
  /**
   * Since the Unix epoch. Logs are kept as written, without times: this leaves out a log that was not written to since,
   * or nothing.
   */
  readonly sinceMs?: number;
  /** Of the container's previous run. */
  readonly previous: boolean;
  readonly limitBytes?: number;
  /** Each line begins with a time: of the file's last change when it was there before, else of when it came. */
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
    const isOld = request.sinceMs !== undefined && mtimeMs < request.sinceMs;
    let position = isOld
      ? size
      : source.from !== undefined
        ? source.from
        : request.tailLines === undefined
          ? 0
          : await tailPosition(file, size, request.tailLines);
    let left = request.limitBytes ?? Number.POSITIVE_INFINITY;
    const stamp = request.timestamps ? lineStamper(() => (position < size ? mtimeMs : world.clock.now())) : undefined;
    while (left > 0 && !signal.aborted) {
      // Looked at before reading: what is written between the last read and the end is not missed.
      const wasRunning = source.isRunning();
      const buffer = Buffer.alloc(chunkBytes);
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, position);
      if (bytesRead > 0) {
        const bytes = stamp === undefined ? buffer.subarray(0, bytesRead) : stamp(buffer.subarray(0, bytesRead));
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

function lineStamper(timeMs: () => number): (bytes: Buffer) => Buffer {
  let isLineStart = true;
  return (bytes) => {
    const prefix = `${new Date(timeMs()).toISOString().replace('Z', '000000Z')} `;
    const text = bytes.toString('latin1');
    const stamped = (isLineStart ? prefix : '') + text.replace(/\n(?=[\s\S])/g, `\n${prefix}`);
    isLineStart = text.endsWith('\n');
    return Buffer.from(stamped, 'latin1');
  };
}
