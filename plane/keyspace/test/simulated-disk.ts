import type { Random } from '@castellan/world';
import type { AppendableFile, KeyspaceFileSystem, ReadableFile } from '../src/index.js';

interface Inode {
  /** What survives loss of power. */
  durable: Buffer;
  /** What a process reads. */
  current: Buffer;
}

type Names = Map<string, Inode>;

/**
 * A disk that keeps apart what was synced and what was only written. It stops its process at a chosen operation: that
 * operation and all later ones never end. Then `afterKill` is the disk as the next process finds it, `afterPowerLoss` as the
 * next boot does: of what was not synced, any part may be missing, cut at any byte, or replaced by zeros.
 */
export class SimulatedDisk {
  readonly fileSystem: KeyspaceFileSystem;
  /** While set, appends to files that match write a part and then fail with this code. */
  failure: { readonly code: 'ENOSPC' | 'EIO'; readonly path: RegExp } | undefined;
  /** How often something was appended. */
  appends = 0;
  #names: Names;
  #durableNames: Names;
  /** Changes of the names since they were synced, in order. */
  #unsyncedNames: ((names: Names) => void)[] = [];
  #operationsLeft = Number.POSITIVE_INFINITY;
  #onStop: () => void = () => undefined;

  constructor(names: Names = new Map(), durableNames: Names = new Map()) {
    this.#names = names;
    this.#durableNames = durableNames;
    this.fileSystem = {
      makeDirectory: () => this.#operate(() => undefined),
      list: (directory) => this.#operate(() => [...this.#names.keys()].map((path) => path.slice(directory.length + 1))),
      openForReading: (path) => this.#operate(() => readable(this.#inodeAt(path))),
      openForAppending: (path, { isSynchronous }) =>
        this.#operate(() => {
          if (!this.#names.has(path)) {
            const inode = { durable: Buffer.alloc(0), current: Buffer.alloc(0) };
            this.#rename((names) => names.set(path, inode));
          }
          return this.#appendable(path, isSynchronous);
        }),
      rename: (from, to) =>
        this.#operate(() => {
          const inode = this.#inodeAt(from);
          this.#rename((names) => {
            names.delete(from);
            names.set(to, inode);
          });
        }),
      remove: (path) => this.#operate(() => this.#rename((names) => names.delete(path))),
      syncDirectory: () =>
        this.#operate(() => {
          this.#durableNames = new Map(this.#names);
          this.#unsyncedNames = [];
        }),
      lock: async () => async () => undefined,
    };
  }

  /** Resolves when the process was stopped: at the `operations`-th operation from now. */
  stopAfter(operations: number): Promise<void> {
    this.#operationsLeft = operations;
    return new Promise((resolve) => {
      this.#onStop = resolve;
    });
  }

  /** Writes are in the page cache: only the one under way may be cut. */
  afterKill(): SimulatedDisk {
    const disk = new SimulatedDisk(new Map(this.#names), new Map(this.#durableNames));
    disk.#unsyncedNames = this.#unsyncedNames;
    return disk;
  }

  afterPowerLoss(random: Random): SimulatedDisk {
    const names = new Map(this.#durableNames);
    // Not even their order is promised.
    for (const change of this.#unsyncedNames) if (random.next() < 0.5) change(names);
    const survivors: Names = new Map();
    for (const [path, inode] of names) {
      const durable = survivingBytes(inode, random);
      survivors.set(path, { durable, current: durable });
    }
    return new SimulatedDisk(survivors, new Map(survivors));
  }

  #appendable(path: string, isSynchronous: boolean): AppendableFile {
    const inode = this.#inodeAt(path);
    return {
      append: async (data) => {
        // Two operations: a process may be stopped when a part is written, and when all is but nothing is synced.
        const half = Math.floor(data.length / 2);
        this.appends++;
        await this.#operate(() => {
          inode.current = Buffer.concat([inode.current, data.subarray(0, half)]);
        });
        if (this.failure?.path.test(path)) {
          const { code } = this.failure;
          throw Object.assign(new Error(`${code}: write`), { code });
        }
        await this.#operate(() => {
          inode.current = Buffer.concat([inode.current, data.subarray(half)]);
        });
        if (isSynchronous) await this.#sync(inode);
      },
      sync: () => this.#sync(inode),
      truncate: (sizeBytes) =>
        this.#operate(() => {
          inode.current = inode.current.subarray(0, sizeBytes);
        }),
      close: () => this.#operate(() => undefined),
    };
  }

  #sync(inode: Inode): Promise<void> {
    return this.#operate(() => {
      inode.durable = inode.current;
    });
  }

  #rename(change: (names: Names) => void): void {
    change(this.#names);
    this.#unsyncedNames.push(change);
  }

  #inodeAt(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw Object.assign(new Error(`ENOENT: no such file, ${path}`), { code: 'ENOENT' });
    return inode;
  }

  async #operate<Result>(effect: () => Result): Promise<Result> {
    await new Promise((resolve) => setImmediate(resolve));
    if (--this.#operationsLeft <= 0) {
      this.#onStop();
      return await new Promise<never>(() => undefined);
    }
    return effect();
  }
}

function readable(inode: Inode): ReadableFile {
  return {
    sizeBytes: inode.current.length,
    read: async (position, into) => inode.current.copy(into, 0, position),
    close: async () => undefined,
  };
}

function survivingBytes({ durable, current }: Inode, random: Random): Buffer {
  const isExtended = current.length > durable.length;
  if (!isExtended) return random.next() < 0.5 ? durable : current;
  const cut = durable.length + Math.floor(random.next() * (current.length - durable.length + 1));
  const kept = current.subarray(0, cut);
  // The size of a file may be on the disk before what it holds.
  const zeros = random.next() < 0.5 ? current.length - cut : 0;
  return Buffer.concat([kept, Buffer.alloc(zeros)]);
}
