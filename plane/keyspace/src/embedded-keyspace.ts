import { resolve } from 'node:path';
import type { World } from '@castellan/world';
import type { KeyspaceFileSystem } from './disk/file-system.js';
import { GroupCommitter } from './disk/group-committer.js';
import { type KeyspaceNotice, load } from './disk/load.js';
import { realFileSystem } from './disk/real-file-system.js';
import { defaultLogLimits, type LogLimits, Rewriter } from './disk/rewriter.js';
import { SegmentedLog } from './disk/segmented-log.js';
import { KeyspaceError, KeyspaceFailedError } from './errors.js';
import type { Keyspace } from './keyspace.js';
import type { Committer } from './mvcc/committer.js';
import { KeyspaceState } from './mvcc/keyspace-state.js';
import { RevisionedKeyspace } from './mvcc/revisioned-keyspace.js';

export interface EmbeddedKeyspaceOptions {
  /** Made when it is not there; nobody else may read it. */
  readonly directory: string;
  readonly world: World;
  /** The machine's disk by default. */
  readonly fileSystem?: KeyspaceFileSystem;
  /** Told what a person should know and nothing has to wait for, such as a torn end that was cut. */
  readonly onNotice?: (notice: KeyspaceNotice) => void;
  readonly limits?: Partial<LogLimits>;
}

/**
 * A keyspace in a directory of its own: the ordered map in memory, every write in a log on disk before it takes
 * effect. SPEC.md K10 to K17 say what it promises when things go wrong.
 *
 * Fails with `KeyspaceLockedError` when a live process has the directory open, `DamagedLogError` when acknowledged
 * writes may be missing, and `KeyspaceFailedError` when the directory cannot be made, read or written.
 */
export async function openEmbeddedKeyspace(options: EmbeddedKeyspaceOptions): Promise<Keyspace> {
  const directory = resolve(options.directory);
  try {
    return await open(directory, options);
  } catch (error) {
    throw error instanceof KeyspaceError ? error : new KeyspaceFailedError(directory, error);
  }
}

async function open(directory: string, options: EmbeddedKeyspaceOptions): Promise<Keyspace> {
  const { fileSystem = realFileSystem, onNotice = () => undefined } = options;
  await fileSystem.makeDirectory(directory);
  const unlock = await fileSystem.lock(directory);
  try {
    const place = { directory, fileSystem };
    const state = new KeyspaceState(options.world);
    const log = await SegmentedLog.open(place, await load(state, { directory, fileSystem, onNotice }));
    const limits = { ...defaultLogLimits, ...options.limits };
    const rewriter = new Rewriter({ state, place, log, limits, onNotice });
    const committer = new GroupCommitter(state, place, log, rewriter);
    return new RevisionedKeyspace(state, withUnlock(committer, unlock));
  } catch (error) {
    await unlock();
    throw error;
  }
}

/** The lock is released last, when no file is open any more. */
function withUnlock(committer: Committer, unlock: () => Promise<void>): Committer {
  return {
    start: (onApplied) => committer.start(onApplied),
    submit: (decide) => committer.submit(decide),
    get sizeBytes() {
      return committer.sizeBytes;
    },
    get failure() {
      return committer.failure;
    },
    async close() {
      try {
        await committer.close();
      } finally {
        await unlock();
      }
    },
  };
}
