import { DamagedLogError } from '../errors.js';
import type { KeyspaceState } from '../mvcc/keyspace-state.js';
import type { KeyspaceFileSystem, ReadableFile } from './file-system.js';
import { pathIn, segmentName, snapshotName, sortFiles } from './log-files.js';
import { isTornEnd, readFrames } from './read-frames.js';
import { Replay } from './replay.js';

export interface KeyspaceNotice {
  readonly kind: 'torn-end-cut' | 'rewrite-failed';
  /** One sentence for people. */
  readonly message: string;
}

export interface LoadedLog {
  /** The segment to append to. */
  readonly segment: number;
  readonly nextSequence: number;
  /** Sizes in bytes of the files in use, by name. */
  readonly files: Map<string, number>;
}

export interface LoadOptions {
  readonly directory: string;
  readonly fileSystem: KeyspaceFileSystem;
  readonly onNotice: (notice: KeyspaceNotice) => void;
}

/**
 * Reads a directory into `state`, cuts a torn end and removes what an interrupted rewriting left. When it returns, all
 * that was read is durable. Fails with `DamagedLogError`.
 */
export async function load(state: KeyspaceState, options: LoadOptions): Promise<LoadedLog> {
  const { directory, fileSystem } = options;
  const { snapshot, segments, obsolete } = sortFiles(await fileSystem.list(directory));
  const replay = new Replay(state);
  const files = new Map<string, number>();
  if (snapshot !== undefined) files.set(snapshotName(snapshot), await loadSnapshot(snapshot, replay, options));
  const first = snapshot ?? 1;
  const last = segments.at(-1) ?? first;
  if (segments.length === 0 && snapshot !== undefined) {
    throw new DamagedLogError(pathIn(directory, segmentName(first)), 0, 'the file is missing');
  }
  let sequence = replay.nextSequence;
  for (const [index, segment] of segments.entries()) {
    if (segment !== first + index) {
      throw new DamagedLogError(pathIn(directory, segmentName(first + index)), 0, 'the file is missing');
    }
    const loaded = await loadSegment(segment, { isLast: segment === last, sequence, replay }, options);
    files.set(segmentName(segment), loaded.sizeBytes);
    sequence = loaded.nextSequence;
  }
  await settleLast(last, files, options);
  for (const name of obsolete) await fileSystem.remove(pathIn(directory, name));
  return { segment: last, nextSequence: sequence, files };
}

async function loadSnapshot(number: number, replay: Replay, options: LoadOptions): Promise<number> {
  const path = pathIn(options.directory, snapshotName(number));
  return await withFile(path, options, async (file) => {
    const read = await readFrames({ path, file, firstSequence: 1 }, (record) => replay.apply(record));
    if (read.broken !== undefined) throw new DamagedLogError(path, read.endBytes, read.broken);
    if (!replay.isSnapshotWhole) throw new DamagedLogError(path, read.endBytes, 'the end of the snapshot is missing');
    return file.sizeBytes;
  });
}

interface SegmentPlace {
  readonly isLast: boolean;
  readonly sequence: number;
  readonly replay: Replay;
}

async function loadSegment(number: number, place: SegmentPlace, options: LoadOptions) {
  const path = pathIn(options.directory, segmentName(number));
  return await withFile(path, options, async (file) => {
    const read = await readFrames({ path, file, firstSequence: place.sequence }, (record) =>
      place.replay.apply(record),
    );
    if (read.broken !== undefined) {
      if (!place.isLast || !(await isTornEnd(file, read))) throw new DamagedLogError(path, read.endBytes, read.broken);
      options.onNotice({
        kind: 'torn-end-cut',
        message:
          `the last ${file.sizeBytes - read.endBytes} bytes of ${path} were cut off: ${read.broken}, as when the machine ` +
          'stops during a write; no acknowledged write is lost',
      });
    }
    return { nextSequence: read.nextSequence, sizeBytes: read.endBytes };
  });
}

/** Cuts the last segment to what was read of it, and makes that durable: the process before may have died before its sync. */
async function settleLast(segment: number, files: Map<string, number>, options: LoadOptions): Promise<void> {
  const { directory, fileSystem } = options;
  const name = segmentName(segment);
  const sizeBytes = files.get(name) ?? 0;
  files.set(name, sizeBytes);
  const file = await fileSystem.openForAppending(pathIn(directory, name), { isSynchronous: false });
  try {
    await file.truncate(sizeBytes);
    await file.sync();
  } finally {
    await file.close();
  }
  await fileSystem.syncDirectory(directory);
}

async function withFile<Result>(
  path: string,
  { fileSystem }: LoadOptions,
  use: (file: ReadableFile) => Promise<Result>,
): Promise<Result> {
  const file = await fileSystem.openForReading(path);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}
