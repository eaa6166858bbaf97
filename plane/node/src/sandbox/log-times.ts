import { appendFileSync, existsSync, type FSWatcher, readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import type { Cancel, World } from '@castellan/world';

/** Two numbers of eight bytes: when, in milliseconds since the Unix epoch, and how long the log was by then. */
const markBytes = 16;
/** What a program writes within so long has one time. */
const markEveryMs = 10;

interface Watched {
  readonly watcher: FSWatcher | undefined;
  /** Where the log was marked last. */
  size: number;
  cancel: Cancel | undefined;
}

/**
 * Notes when containers' logs grow. Programs write their logs without us, so that they outlive the plane; what was written
 * while no plane ran has the time of the file's last change.
 */
export class LogClock {
  readonly #world: World;
  readonly #watched = new Map<string, Watched>();

  constructor(world: World) {
    this.#world = world;
  }

  /** @param directory of a container's start: `log` is in it, and gets a `log-times` beside it. */
  watch(directory: string): void {
    if (this.#watched.has(directory)) return;
    const path = join(directory, 'log');
    const watched: Watched = {
      watcher: watchFile(path, () => this.#grown(directory)),
      size: readMarks(path).at(-1)?.size ?? 0,
      cancel: undefined,
    };
    this.#watched.set(directory, watched);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined) mark(path, watched, stat.mtimeMs);
  }

  unwatch(directory: string): void {
    const watched = this.#watched.get(directory);
    if (watched === undefined) return;
    watched.cancel?.();
    watched.watcher?.close();
    this.#watched.delete(directory);
    if (existsSync(directory)) mark(join(directory, 'log'), watched, this.#world.clock.now());
  }

  close(): void {
    for (const directory of [...this.#watched.keys()]) this.unwatch(directory);
  }

  #grown(directory: string): void {
    const watched = this.#watched.get(directory);
    if (watched === undefined || watched.cancel !== undefined) return;
    const atMs = this.#world.clock.now();
    watched.cancel = this.#world.clock.after(markEveryMs, () => {
      watched.cancel = undefined;
      mark(join(directory, 'log'), watched, atMs);
    });
  }
}

/** When the parts of a log were written. */
export interface LogTimes {
  /** Of the byte at `offset`; `undefined` beyond the last mark. */
  at(offset: number): number | undefined;
  /** How much of the log was there before `sinceMs`. */
  before(sinceMs: number): number;
}

export function readLogTimes(logPath: string): LogTimes {
  const marks = readMarks(logPath);
  const first = (isWanted: (mark: Mark) => boolean) => {
    let [low, high] = [0, marks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const found = marks[middle];
      if (found !== undefined && isWanted(found)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return {
    at: (offset) => marks[first(({ size }) => size > offset)]?.atMs,
    before: (sinceMs) => marks[first(({ atMs }) => atMs >= sinceMs) - 1]?.size ?? 0,
  };
}

interface Mark {
  readonly atMs: number;
  readonly size: number;
}

function readMarks(logPath: string): readonly Mark[] {
  const path = timesPath(logPath);
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  return Array.from({ length: Math.floor(bytes.length / markBytes) }, (_, index) => ({
    atMs: bytes.readDoubleBE(index * markBytes),
    size: bytes.readDoubleBE(index * markBytes + 8),
  }));
}

function mark(logPath: string, watched: Watched, atMs: number): void {
  const size = statSync(logPath, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= watched.size) return;
  watched.size = size;
  const bytes = Buffer.alloc(markBytes);
  bytes.writeDoubleBE(atMs, 0);
  bytes.writeDoubleBE(size, 8);
  appendFileSync(timesPath(logPath), bytes);
}

function timesPath(logPath: string): string {
  return `${logPath}-times`;
}

/** Without a watch (the machine's inotify watches are used up) the times are those of the first and the last look. */
function watchFile(path: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(path, { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
