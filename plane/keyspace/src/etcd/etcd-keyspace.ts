import {
  CompactedError,
  EtcdRefusedError,
  EtcdUnreachableError,
  FutureRevisionError,
  KeyspaceClosedError,
  LeaseNotFoundError,
} from '../errors.js';
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
import { assertKey, prefixRange } from '../mvcc/key-order.js';
import { procedures } from './calls.js';
import { ChangeFeed } from './change-feed.js';
import { Cluster, RefusedAnswer } from './cluster.js';
import type { EtcdKeyspaceOptions } from './etcd-options.js';
import { followChanges } from './follow-changes.js';
import { KeyMapping, leaseFromEtcd, leaseToEtcd } from './key-mapping.js';
import { compareTarget, type RangeRequest, type RequestOperation } from './messages.js';

const connectDeadlineMs = 5_000;
/** How long `close` waits until the watches have seen the last write. */
const lastEventsDeadlineMs = 2_000;
const compactedDeadlineMs = 5_000;
/** Keys per answer of etcd: a page of objects of a few KB stays in the tens of megabytes. */
const pageKeys = 5_000;
/** A read of no key: only its revision is wanted. */
const probe: RangeRequest = { key: Buffer.from([0]), isCountOnly: true };
const repeatable = { isRepeatable: true };
const once = { isRepeatable: false };

/** See `openEtcdKeyspace`. */
export async function connectEtcdKeyspace(options: EtcdKeyspaceOptions): Promise<Keyspace> {
  const cluster = new Cluster(options.endpoints, options.tls, options.world);
  try {
    const { header } = await cluster.call(procedures.range, probe, { ...repeatable, deadlineMs: connectDeadlineMs });
    return new EtcdKeyspace(cluster, header?.revision ?? 0, options);
  } catch (error) {
    cluster.close();
    throw error;
  }
}

/** Reads are linearizable. Each write is one transaction of etcd, made once: when its fate is not known, it fails. */
class EtcdKeyspace implements Keyspace {
  readonly #cluster: Cluster;
  readonly #keys: KeyMapping;
  readonly #feed: ChangeFeed;
  readonly #writesUnderWay = new Set<Promise<unknown>>();
  #lastWritten: Revision = 0;
  /** As far as is known here; others compact too. */
  #compactedRevision: Revision = 0;
  #closing: Promise<void> | undefined;

  constructor(cluster: Cluster, revision: Revision, { prefix = '', onNotice = () => undefined }: EtcdKeyspaceOptions) {
    this.#cluster = cluster;
    this.#keys = new KeyMapping(prefix);
    const currentRevision = async (): Promise<Revision> => (await this.#range(probe)).revision;
    this.#feed = new ChangeFeed(revision, { cluster, keys: this.#keys, currentRevision, onNotice });
    this.#feed.start();
  }

  async revision(): Promise<Revision> {
    this.#assertOpen();
    return (await this.#range(probe)).revision;
  }

  async get(key: string, options: { readonly revision?: Revision } = {}): Promise<GetResult> {
    const { revision, keyValues } = await this.range({ start: key }, options);
    const [keyValue] = keyValues;
    return { revision, ...(keyValue && { keyValue }) };
  }

  async range(range: KeyRange, { revision, limit = 0, countOnly = false }: RangeOptions = {}): Promise<RangeResult> {
    this.#assertOpen();
    const request: RangeRequest = {
      ...this.#keys.rangeToEtcd(range),
      ...(revision !== undefined && { revision }),
      isCountOnly: countOnly,
    };
    const wanted = limit === 0 ? Number.POSITIVE_INFINITY : limit;
    const first = await this.#range({ ...request, limit: Math.min(wanted, pageKeys) });
    // All pages show one revision.
    const pinned = { ...request, revision: revision ?? first.revision };
    let keyValues = first.keyValues;
    let hasMore = first.hasMore;
    for (
      let last = keyValues.at(-1);
      hasMore && last !== undefined && keyValues.length < wanted;
      last = keyValues.at(-1)
    ) {
      const key = Buffer.concat([this.#keys.toEtcd(last.key), Buffer.from([0])]);
      const page = await this.#range({ ...pinned, key, limit: Math.min(wanted - keyValues.length, pageKeys) });
      keyValues = keyValues.concat(page.keyValues);
      hasMore = page.hasMore;
    }
    return { revision: first.revision, keyValues, count: first.count };
  }

  put(key: string, value: Uint8Array, { ifRevision, lease }: PutOptions): Promise<WriteResult> {
    return this.#write(async () => {
      assertKey(key);
      const wantsPrevious = ifRevision > 0;
      const id = lease === undefined ? 0n : idOf(lease);
      const put = { put: { key: this.#keys.toEtcd(key), value, lease: id, wantsPrevious } };
      return await onLease(lease, this.#compareAndWrite(key, ifRevision, put));
    });
  }

  delete(key: string, { ifRevision }: { readonly ifRevision: Revision }): Promise<WriteResult> {
    return this.#write(async () => {
      assertKey(key);
      const operation = { delete: { key: this.#keys.toEtcd(key), wantsPrevious: ifRevision > 0 } };
      return await this.#compareAndWrite(key, ifRevision, operation);
    });
  }

  async watch(range: KeyRange, after: Revision, watcher: Watcher): Promise<Watch> {
    this.#assertOpen();
    // etcd lets a watch begin at the compacted revision itself, where deletions are missing; a read it does not.
    const { revision } = await this.#range({ ...probe, revision: Math.max(after, 1) }).catch((error: unknown) => {
      if (error instanceof FutureRevisionError) return { revision: error.currentRevision };
      throw error;
    });
    await this.#feed.reach(revision);
    return await this.#feed.watch(range, after, watcher);
  }

  grantLease(ttlSeconds: number): Promise<LeaseId> {
    return this.#write(async () => {
      if (!(ttlSeconds > 0)) throw new RangeError(`a lease of ${ttlSeconds} seconds: the TTL must be above 0`);
      // A lease that was granted twice because an answer was lost holds no key and ends by itself.
      const { id } = await this.#cluster.call(procedures.grantLease, { ttlSeconds: Math.ceil(ttlSeconds) }, repeatable);
      return leaseFromEtcd(id);
    });
  }

  async keepLeaseAlive(lease: LeaseId): Promise<void> {
    this.#assertOpen();
    const { ttlSeconds } = await this.#cluster.call(procedures.keepLeaseAlive, { id: idOf(lease) }, repeatable);
    if (ttlSeconds === 0) throw new LeaseNotFoundError(lease);
  }

  revokeLease(lease: LeaseId): Promise<void> {
    return this.#write(async () => {
      const { header } = await onLease(lease, this.#cluster.call(procedures.revokeLease, { id: idOf(lease) }, once));
      this.#lastWritten = Math.max(this.#lastWritten, header?.revision ?? 0);
    });
  }

  compact(revision: Revision): Promise<void> {
    return this.#write(async () => {
      try {
        await this.#cluster.call(procedures.compact, { revision }, repeatable);
        this.#compactedRevision = Math.max(this.#compactedRevision, revision);
      } catch (error) {
        if (!(error instanceof RefusedAnswer)) throw error;
        if (error.answer !== 'compacted') throw new FutureRevisionError(revision, (await this.#range(probe)).revision);
      }
    });
  }

  async compactedRevision(): Promise<Revision> {
    this.#assertOpen();
    const known = Math.max(this.#compactedRevision, 1);
    try {
      await this.#cluster.call(procedures.range, { ...probe, revision: known }, repeatable);
    } catch (error) {
      if (!(error instanceof RefusedAnswer && error.answer === 'compacted')) throw error;
      this.#compactedRevision = await this.#compactedAfter(known);
    }
    return this.#compactedRevision;
  }

  async status(): Promise<KeyspaceStatus> {
    this.#assertOpen();
    const { sizeBytes, errors } = await this.#cluster.call(procedures.status, {}, repeatable);
    const { count } = await this.range(prefixRange(''), { countOnly: true });
    if (errors.length === 0) return { sizeBytes, keys: count };
    const next = 'see `etcdctl alarm list` and `etcdctl endpoint status`';
    return {
      sizeBytes,
      keys: count,
      failure: new EtcdRefusedError(this.#cluster.addresses.join(', '), errors.join('; '), next),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.allSettled(this.#writesUnderWay);
    // When etcd is gone, watches end without them; they are told nothing then that is not so.
    await this.#feed.reach(this.#lastWritten, lastEventsDeadlineMs).catch(() => undefined);
    const feedClosed = this.#feed.close();
    this.#cluster.close();
    await feedClosed;
  }

  async #write<Result>(write: () => Promise<Result>): Promise<Result> {
    this.#assertOpen();
    const writing = write();
    this.#writesUnderWay.add(writing);
    try {
      return await writing;
    } finally {
      this.#writesUnderWay.delete(writing);
    }
  }

  async #compareAndWrite(key: string, ifRevision: Revision, write: RequestOperation): Promise<WriteResult> {
    const etcdKey = this.#keys.toEtcd(key);
    const transaction = {
      compare: [{ target: compareTarget.modRevision, key: etcdKey, modRevision: ifRevision }],
      success: [write],
      failure: [{ range: { key: etcdKey } }],
    };
    const { header, isSuccess, responses } = await this.#cluster.call(procedures.transaction, transaction, once);
    const revision = header?.revision ?? 0;
    const [response] = responses;
    if (!isSuccess) {
      const [present] = response?.range?.keyValues ?? [];
      return { isWritten: false, revision, ...(present && { present: this.#keys.fromEtcd(present) }) };
    }
    this.#lastWritten = Math.max(this.#lastWritten, revision);
    const previous = response?.put?.previous ?? response?.delete?.previous[0];
    return { isWritten: true, revision, ...(previous && { previous: this.#keys.fromEtcd(previous) }) };
  }

  async #range(request: RangeRequest): Promise<RangeResult & { readonly hasMore: boolean }> {
    try {
      const { header, keyValues, hasMore, count } = await this.#cluster.call(procedures.range, request, repeatable);
      const revision = header?.revision ?? 0;
      return { revision, keyValues: keyValues.map((stored) => this.#keys.fromEtcd(stored)), hasMore, count };
    } catch (error) {
      if (!(error instanceof RefusedAnswer)) throw error;
      const { revision = 0 } = request;
      if (error.answer === 'compacted') throw new CompactedError(revision, await this.compactedRevision());
      throw new FutureRevisionError(revision, (await this.#range(probe)).revision);
    }
  }

  /** etcd tells its compacted revision only to those who want to watch from before it. */
  async #compactedAfter(revision: Revision): Promise<Revision> {
    const deadline = new AbortController();
    const cancel = this.#cluster.world.clock.after(compactedDeadlineMs, () => deadline.abort());
    const end = await followChanges(this.#cluster, revision - 1, () => undefined, deadline.signal);
    cancel();
    if (end.type === 'compacted') return end.compactedRevision;
    const reason = end.type === 'lost' ? end.reason : 'it did not say which revision is compacted';
    throw new EtcdUnreachableError(this.#cluster.addresses, reason);
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new KeyspaceClosedError();
  }
}

async function onLease<Result>(lease: LeaseId | undefined, call: Promise<Result>): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    const isMissing = error instanceof RefusedAnswer && error.answer === 'no such lease';
    throw isMissing && lease !== undefined ? new LeaseNotFoundError(lease) : error;
  }
}

function idOf(lease: LeaseId): bigint {
  const id = leaseToEtcd(lease);
  if (id === undefined) throw new LeaseNotFoundError(lease);
  return id;
}
