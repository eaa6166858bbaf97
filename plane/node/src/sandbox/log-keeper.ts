import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import type { Cancel, World } from '@castellan/world';
import { runCommand } from './command.js';
import {
  keptFrom,
  type Offsets,
  type Output,
  outputPath,
  outputSizes,
  outputs,
  outputsDirectory,
  recordKeptFrom,
} from './log-files.js';
import { addMark, LogMarks, marksSize, rewriteMarks } from './log-marks.js';

export interface LogKeeperOptions {
  readonly world: World;
  /** Why logs are kept whole, or without the times of their lines. Called once for each reason. */
  onProblem(message: string): void;
  /** As kubelet's containerLogMaxSize, by default 10 MiB: when a start of a container has five of it, one is given back. */
  readonly partBytes?: number;
}

/** As kubelet's containerLogMaxFiles. */
const mostParts = 5;

/** What a program writes within so long has one time. */
const markEveryMs = 10;
/** Beyond it the older half of the marks loses every other one. */
const marksLimitBytes = 8 * 1024 * 1024;

interface Watched {
  readonly watcher: FSWatcher | undefined;
  /** How long the outputs were at the last mark. */
  sizes: Offsets;
  /** Until then nothing is marked. */
  pause: Cancel | undefined;
  /** When something was written in the pause, first. */
  writtenAtMs: number | undefined;
  cutting: Promise<void> | undefined;
}

/**
 * Notes when containers' outputs grow, and gives the oldest of what is too much back to the disk. Programs write the files
 * themselves, so that nothing of ours stands between: they outlive the plane, and never wait for it. What was written
 * while no plane ran has the time of the file's last change, and is shortened when one runs again.
 */
export class LogKeeper {
  readonly #options: LogKeeperOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #problems = new Set<string>();
  #canMakeHoles = true;

  constructor(options: LogKeeperOptions) {
    this.#options = options;
  }

  /** @param directory of a container's start, whose program runs. */
  watch(directory: string): void {
    if (this.#watched.has(directory)) return;
    const marks = new LogMarks(directory);
    const watched: Watched = {
      watcher: watchFiles(directory, () => this.#written(directory)),
      sizes: marks.mark(marks.count - 1) ?? { stdout: 0, stderr: 0 },
      pause: undefined,
      writtenAtMs: undefined,
      cutting: undefined,
    };
    this.#watched.set(directory, watched);
    this.#mark(directory, watched, lastChangeMs(directory) ?? this.#options.world.clock.now());
  }

  unwatch(directory: string): void {
    const watched = this.#watched.get(directory);
    if (watched === undefined) return;
    watched.pause?.();
    watched.watcher?.close();
    this.#watched.delete(directory);
    if (existsSync(directory)) this.#mark(directory, watched, this.#options.world.clock.now());
  }

  /** As one look at a start that nobody watched to its end. */
  look(directory: string): void {
    this.watch(directory);
    this.unwatch(directory);
  }

  close(): void {
    for (const directory of [...this.#watched.keys()]) this.unwatch(directory);
  }

  /** Marked at once, so that lines of both outputs keep their order, and then after a pause. */
  #written(directory: string): void {
    const watched = this.#watched.get(directory);
    if (watched === undefined) return;
    const { clock } = this.#options.world;
    if (watched.pause !== undefined) {
      watched.writtenAtMs ??= clock.now();
      return;
    }
    this.#mark(directory, watched, clock.now());
    this.#pause(directory, watched);
  }

  #pause(directory: string, watched: Watched): void {
    watched.pause = this.#options.world.clock.after(markEveryMs, () => {
      watched.pause = undefined;
      const { writtenAtMs } = watched;
      if (writtenAtMs === undefined) return;
      watched.writtenAtMs = undefined;
      this.#mark(directory, watched, writtenAtMs);
      this.#pause(directory, watched);
    });
  }

  /** Never throws: a log is no reason for a plane to end, be its disk full or its directory gone between two looks. */
  #mark(directory: string, watched: Watched, atMs: number): void {
    this.#unlessGone(directory, () => this.#markNow(directory, watched, atMs));
  }

  #markNow(directory: string, watched: Watched, atMs: number): void {
    const sizes = outputSizes(directory);
    const shorter = outputs.filter((output) => sizes[output] < watched.sizes[output]);
    if (shorter.length > 0) forget(directory, shorter);
    if (outputs.every((output) => sizes[output] === watched.sizes[output])) return;
    watched.sizes = sizes;
    addMark(directory, { atMs, ...sizes });
    if (marksSize(directory) > marksLimitBytes) thinOut(directory);
    this.#bound(directory, watched);
  }

  #bound(directory: string, watched: Watched): void {
    watched.cutting ??= this.#cut(directory, watched.sizes)?.finally(() => {
      watched.cutting = undefined;
      // A flood may have gone on meanwhile, and have ended.
      if (this.#watched.get(directory) !== watched) return;
      this.#unlessGone(directory, () => this.#bound(directory, watched));
    });
  }

  #unlessGone(directory: string, work: () => void): void {
    try {
      if (existsSync(outputsDirectory(directory))) work();
    } catch (error) {
      if (!existsSync(outputsDirectory(directory))) return;
      const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      this.#tell(reason, `logs of containers are kept without the times of their lines: ${String(error)}`);
    }
  }

  #tell(reason: string, message: string): void {
    if (this.#problems.has(reason)) return;
    this.#problems.add(reason);
    this.#options.onProblem(message);
  }

  /** The output of which there is more gives way. */
  #cut(directory: string, sizes: Offsets): Promise<void> | undefined {
    const { partBytes = 10 * 1024 * 1024 } = this.#options;
    const before = keptFrom(directory);
    const lengths = { stdout: sizes.stdout - before.stdout, stderr: sizes.stderr - before.stderr };
    const total = lengths.stdout + lengths.stderr;
    if (total <= partBytes * mostParts || !this.#canMakeHoles) return undefined;
    const excess = total - partBytes * (mostParts - 1);
    const longer: Output = lengths.stdout >= lengths.stderr ? 'stdout' : 'stderr';
    const shorter: Output = longer === 'stdout' ? 'stderr' : 'stdout';
    const ofLonger = Math.min(excess, lengths[longer]);
    const kept: Offsets = {
      ...before,
      [longer]: before[longer] + ofLonger,
      [shorter]: before[shorter] + excess - ofLonger,
    };
    // Before the holes are there: who reads looks here afterwards, and takes nothing from a hole.
    recordKeptFrom(directory, kept);
    rewriteMarks(directory, (mark) => (outputs.every((output) => mark[output] <= kept[output]) ? undefined : mark));
    return this.#makeHoles(directory, kept);
  }

  async #makeHoles(directory: string, kept: Offsets): Promise<void> {
    for (const output of outputs) {
      if (kept[output] === 0) continue;
      const hole = ['--punch-hole', '--offset', '0', '--length', String(kept[output]), outputPath(directory, output)];
      const { exitCode, stderr } = await runCommand('fallocate', hole).catch((error: unknown) => ({
        exitCode: 1,
        stderr: String(error),
      }));
      if (exitCode === 0 || !existsSync(directory) || !this.#canMakeHoles) continue;
      this.#canMakeHoles = false;
      const message = `logs of containers are kept whole, for their beginning cannot be cut off: ${stderr.trim()}`;
      this.#tell('no holes', message);
    }
  }
}

/** The program has opened its output anew and emptied it: all that was before is gone. */
function forget(directory: string, emptied: readonly Output[]): void {
  const none = Object.fromEntries(emptied.map((output) => [output, 0]));
  recordKeptFrom(directory, { ...keptFrom(directory), ...none });
  rewriteMarks(directory, (mark) => ({ ...mark, ...none }));
}

function thinOut(directory: string): void {
  const half = new LogMarks(directory).count / 2;
  rewriteMarks(directory, (mark, index) => (index < half && index % 2 === 0 ? undefined : mark));
}

function lastChangeMs(directory: string): number | undefined {
  const times = outputs.map(
    (output) => statSync(outputPath(directory, output), { throwIfNoEntry: false })?.mtimeMs ?? 0,
  );
  const last = Math.max(...times);
  return last === 0 ? undefined : last;
}

/** Without a watch (the machine's inotify watches are used up) the times are those of the first and the last look. */
function watchFiles(directory: string, changed: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(outputsDirectory(directory), { persistent: false }, changed);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined;
  }
}
