// Walk 3/10: the write that the API server made of the object is decided here and told to every watch once it is durable.
import { KeyspaceClosedError, LeaseNotFoundError } from '../errors.js';
import type {
  GetResult,
  KeyRange,
  Keyspace,
  KeyspaceStatus,
  LeaseId,
  PutOptions,
  RangeOptions,
  RangeResult,
  Revision,
  Watch,
  Watcher,
  WriteResult,
} from '../keyspace.js';
import type { Committer } from './committer.js';
import { assertKey } from './key-order.js';
import type { KeyspaceState } from './keyspace-state.js';
import { WatchHub } from './watch-hub.js';
import type { WriteBatch } from './write-batch.js';

/**
 * A keyspace whose state is in memory. Reads and watches see what the committer has applied, which is what is durable:
 * nobody can act on a write that a crash could still take back. Writes are decided in the order of their calls.
 */
export class RevisionedKeyspace implements Keyspace {
  readonly #state: KeyspaceState;
  readonly #committer: Committer;
  readonly #hub = new WatchHub();
  #closing: Promise<void> | undefined;

  constructor(state: KeyspaceState, committer: Committer) {
    this.#state = state;
    this.#committer = committer;
    committer.start((events) => this.#hub.publish({ events, revision: state.map.revision }));
    state.leases.start((lease) => {
      // When the storage has failed or is closed, the lease's keys stay; the next start gives the lease its TTL again.
      this.revokeLease(lease).catch(() => undefined);
    });
  }

  async revision(): Promise<Revision> {
    this.#assertOpen();
    return this.#state.map.revision;
  }

  async get(key: string, options: { readonly revision?: Revision } = {}): Promise<GetResult> {
    this.#assertOpen();
    const keyValue = this.#state.map.get(key, options.revision);
    return { revision: this.#state.map.revision, ...(keyValue && { keyValue }) };
  }

  async range(range: KeyRange, options?: RangeOptions): Promise<RangeResult> {
    this.#assertOpen();
    return this.#state.map.range(range, options);
  }

  put(key: string, value: Uint8Array, options: PutOptions): Promise<WriteResult> {
    return this.#write((batch) => {
      assertKey(key);
      return batch.put(key, value, options);
    });
  }

  delete(key: string, options: { readonly ifRevision: Revision }): Promise<WriteResult> {
    return this.#write((batch) => {
      assertKey(key);
      return batch.delete(key, options.ifRevision);
    });
  }

  async watch(range: KeyRange, after: Revision, watcher: Watcher): Promise<Watch> {
    this.#assertOpen();
    const history = this.#state.map.changesAfter(after).flat();
    return this.#hub.open(range, after, watcher, { events: history, revision: this.#state.map.revision });
  }

  grantLease(ttlSeconds: number): Promise<LeaseId> {
    return this.#write((batch) => {
      if (!(ttlSeconds > 0)) throw new RangeError(`a lease of ${ttlSeconds} seconds: the TTL must be above 0`);
      return batch.grantLease(ttlSeconds);
    });
  }

  async keepLeaseAlive(lease: LeaseId): Promise<void> {
    this.#assertOpen();
    if (!this.#state.leases.has(lease)) throw new LeaseNotFoundError(lease);
    this.#state.leases.renew(lease);
  }

  revokeLease(lease: LeaseId): Promise<void> {
    return this.#write((batch) => batch.endLease(lease));
  }

  compact(revision: Revision): Promise<void> {
    return this.#write((batch) => batch.compact(revision));
  }

  async compactedRevision(): Promise<Revision> {
    this.#assertOpen();
    return this.#state.map.compactedRevision;
  }

  async status(): Promise<KeyspaceStatus> {
    this.#assertOpen();
    const { sizeBytes, failure } = this.#committer;
    return { sizeBytes, keys: this.#state.map.keys, ...(failure && { failure }) };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#state.leases.stop();
    await this.#committer.close();
    this.#hub.endAll();
  }

  async #write<Result>(decide: (batch: WriteBatch) => Result): Promise<Result> {
    this.#assertOpen();
    return await this.#committer.submit(decide);
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new KeyspaceClosedError();
  }
}
