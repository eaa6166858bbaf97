/**
 * The etcd data model behind one small interface: an ordered map from key to value with one revision counter for all
 * keys. Every change of one or more keys in a transaction adds one to the revision; history between the compacted
 * revision and now can be read and watched. Source: etcd's KV and Watch API (rpc.proto of etcd 3.4).
 *
 * Implementations: `openEmbeddedKeyspace` (a log on disk, the ordered map in memory), `memoryKeyspace` (tests).
 * All of them pass one contract suite.
 */
export interface Keyspace {
  /** The revision of the last change; 1 for an empty keyspace, as in etcd. */
  revision(): Promise<Revision>;

  /** The value at a key, now or at an earlier revision. */
  get(key: string, options?: { readonly revision?: Revision }): Promise<GetResult>;

  /**
   * Keys in [start, end), in byte order, at a revision (now by default). `limit` 0 or absent: no limit.
   * Fails with `CompactedError` for a revision that is compacted and `FutureRevisionError` for one not yet reached.
   */
  range(range: KeyRange, options?: RangeOptions): Promise<RangeResult>;

  /**
   * One compare-and-write: when the key's modification revision equals `ifRevision` (0: the key is absent), the write is
   * made; otherwise nothing changes and the result holds what is there. Resolves when the write is durable; until then
   * no read and no watch shows it. A copy of `value` is kept; it must not change before the promise resolves.
   * Fails with `KeyspaceFailedError` once the storage has failed (disk full, fsync error): nothing more is written then.
   */
  put(key: string, value: Uint8Array, options: PutOptions): Promise<WriteResult>;
  delete(key: string, options: { readonly ifRevision: Revision }): Promise<WriteResult>;

  /**
   * Changes in [start, end) with revision > `after`, in order, without gap, each revision's changes in one batch (a batch
   * may hold several revisions, never part of one). What is in the past already is handed over before the promise resolves.
   * `onEvents` must be quick; a watcher that throws is ended with what it threw.
   * Fails with `CompactedError` when `after` < the compacted revision. `after` may lie in the future: then only later
   * changes are handed over.
   */
  watch(range: KeyRange, after: Revision, watcher: Watcher): Promise<Watch>;

  /**
   * A lease deletes its keys, all in one revision, `ttlSeconds` after it was granted or last kept alive, or after the
   * keyspace was opened. A key is on the lease of its last put. Unknown leases fail with `LeaseNotFoundError`.
   */
  grantLease(ttlSeconds: number): Promise<LeaseId>;
  keepLeaseAlive(lease: LeaseId): Promise<void>;
  /** Ends the lease and deletes its keys now. */
  revokeLease(lease: LeaseId): Promise<void>;

  /**
   * Forgets history before `revision`; reads and watches from before it then fail with `CompactedError`. No effect when
   * that is compacted already. Fails with `FutureRevisionError` for a revision not yet reached.
   */
  compact(revision: Revision): Promise<void>;
  /** 0 when nothing was compacted yet. */
  compactedRevision(): Promise<Revision>;

  status(): Promise<KeyspaceStatus>;

  /** Waits for the writes under way, then ends every watch. Everything after it fails with `KeyspaceClosedError`. */
  close(): Promise<void>;
}

/** A positive whole number below 2^53. */
export type Revision = number;
export type LeaseId = string;

/**
 * `end` undefined: only `start`. `end` "\0": every key from `start` on, as in etcd. Use `prefixRange` for a prefix.
 * Keys are ordered as their UTF-8 bytes.
 */
export interface KeyRange {
  readonly start: string;
  readonly end?: string;
}

export interface KeyValue {
  readonly key: string;
  readonly value: Uint8Array;
  readonly createRevision: Revision;
  readonly modRevision: Revision;
  /** How often the key was written since it was created; 1 at first. */
  readonly version: number;
  readonly lease?: LeaseId;
}

export interface GetResult {
  /** The keyspace's revision when the read was made. */
  readonly revision: Revision;
  readonly keyValue?: KeyValue;
}

export interface RangeOptions {
  readonly revision?: Revision;
  readonly limit?: number;
  readonly countOnly?: boolean;
}

export interface RangeResult {
  readonly revision: Revision;
  readonly keyValues: readonly KeyValue[];
  /** Of all keys in the range, not only of those within the limit. */
  readonly count: number;
}

export interface PutOptions {
  readonly ifRevision: Revision;
  readonly lease?: LeaseId;
}

export type WriteResult =
  | { readonly isWritten: true; readonly revision: Revision; readonly previous?: KeyValue }
  | { readonly isWritten: false; readonly revision: Revision; readonly present?: KeyValue };

export interface KeyEvent {
  readonly type: 'put' | 'delete';
  readonly key: string;
  /** The revision of the change. */
  readonly revision: Revision;
  /** What the key holds now; absent for a delete. */
  readonly keyValue?: KeyValue;
  /** What it held before; absent when the change created the key or that revision is compacted. */
  readonly previous?: KeyValue;
}

export interface Watcher {
  onEvents(events: readonly KeyEvent[]): void;
  /** All changes up to `revision` have been handed over; called at least after each batch of writes in the keyspace. */
  onProgress?(revision: Revision): void;
  /** The watch ended by itself (storage closed, compacted away, connection lost). Not called after `cancel`. */
  onEnd(error?: Error): void;
}

export interface Watch {
  cancel(): void;
}

export interface KeyspaceStatus {
  /** On disk; 0 in memory. */
  readonly sizeBytes: number;
  readonly keys: number;
  /** Why no write is taken any more, when the storage has failed. */
  readonly failure?: Error;
}
