/**
 * What the store asks of a disk, so that a test can put one in that loses power. Paths are absolute. Operations fail
 * with the errors of `node:fs`. What is said to be durable survives loss of power; anything else may be lost or torn.
 */
export interface KeyspaceFileSystem {
  /** With its parents, durably; no effect when it is there. */
  makeDirectory(directory: string): Promise<void>;
  list(directory: string): Promise<readonly string[]>;
  openForReading(path: string): Promise<ReadableFile>;
  /** Opens for appending; creates when absent. `isSynchronous`: each append is durable when it resolves. */
  openForAppending(path: string, options: { readonly isSynchronous: boolean }): Promise<AppendableFile>;
  rename(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Makes creations, renames and removals in the directory durable. */
  syncDirectory(directory: string): Promise<void>;
  /** Takes the directory for this process alone; the result gives it back. Fails with `KeyspaceLockedError`. */
  lock(directory: string): Promise<() => Promise<void>>;
}

export interface ReadableFile {
  readonly sizeBytes: number;
  /** Fills `into` from `position` on and gives the number of bytes: fewer than it has room for only at the file's end. */
  read(position: number, into: Buffer): Promise<number>;
  close(): Promise<void>;
}

export interface AppendableFile {
  append(data: Uint8Array): Promise<void>;
  /** Makes what the file holds durable. */
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  close(): Promise<void>;
}
