import { FutureRevisionError, LeaseNotFoundError } from '../errors.js';
import type { KeyEvent, KeyValue, LeaseId, PutOptions, Revision, WriteResult } from '../keyspace.js';
import type { Entry } from './entry.js';
import type { KeyspaceState } from './keyspace-state.js';

/**
 * Decides a group of writes one after the other, each seeing those before it, without touching the state: when making
 * the group durable fails there is nothing to take back. The result is `entries`, to be logged and then applied.
 */
export class WriteBatch {
  readonly entries: Entry[] = [];
  readonly #state: KeyspaceState;
  readonly #changed = new Map<string, KeyValue | undefined>();
  readonly #leases = new Map<LeaseId, 'granted' | 'ended'>();
  #lastLease: number;
  #revision: Revision;
  #valueBytes = 0;

  constructor(state: KeyspaceState) {
    this.#state = state;
    this.#revision = state.map.revision;
    this.#lastLease = state.leases.lastLease;
  }

  /** Size of the values in `entries`, so that a group can be ended before it gets large. */
  get valueBytes(): number {
    return this.#valueBytes;
  }

  put(key: string, value: Uint8Array, { ifRevision, lease }: PutOptions): WriteResult {
    if (lease !== undefined) this.#assertLease(lease);
    return this.#write(key, ifRevision, { key, value, ...(lease !== undefined && { lease }) });
  }

  delete(key: string, ifRevision: Revision): WriteResult {
    return this.#write(key, ifRevision, { key });
  }

  grantLease(ttlSeconds: number): LeaseId {
    this.#lastLease++;
    const lease = String(this.#lastLease);
    this.#leases.set(lease, 'granted');
    this.entries.push({ type: 'lease-granted', lease, ttlSeconds });
    return lease;
  }

  endLease(lease: LeaseId): void {
    this.#assertLease(lease);
    const keys = new Set(this.#state.leases.keysOf(lease));
    for (const key of this.#changed.keys()) keys.add(key);
    const doomed = [...keys].filter((key) => this.#get(key)?.lease === lease);
    if (doomed.length > 0) this.#change(doomed.map((key) => ({ key })));
    this.#leases.set(lease, 'ended');
    this.entries.push({ type: 'lease-ended', lease });
  }

  compact(revision: Revision): void {
    if (revision > this.#revision) throw new FutureRevisionError(revision, this.#revision);
    if (revision > this.#state.map.compactedRevision) this.entries.push({ type: 'compacted', revision });
  }

  #write(key: string, ifRevision: Revision, change: Change): WriteResult {
    const present = this.#get(key);
    if ((present?.modRevision ?? 0) !== ifRevision) {
      return { isWritten: false, revision: this.#revision, ...(present && { present }) };
    }
    // Deleting what is absent, as expected, changes nothing and so adds no revision, as in etcd.
    if (change.value !== undefined || present !== undefined) this.#change([owned(change)]);
    return { isWritten: true, revision: this.#revision, ...(present && { previous: present }) };
  }

  #change(changes: readonly Change[]): void {
    this.#revision++;
    const events = changes.map((change) => changeEvent(change, this.#revision, this.#get(change.key)));
    for (const event of events) {
      this.#changed.set(event.key, event.keyValue);
      this.#valueBytes += event.keyValue?.value.length ?? 0;
    }
    this.entries.push({ type: 'changes', revision: this.#revision, events });
  }

  #get(key: string): KeyValue | undefined {
    return this.#changed.has(key) ? this.#changed.get(key) : this.#state.map.get(key);
  }

  #assertLease(lease: LeaseId): void {
    const change = this.#leases.get(lease);
    const isPresent = change === undefined ? this.#state.leases.has(lease) : change === 'granted';
    if (!isPresent) throw new LeaseNotFoundError(lease);
  }
}

/** A change as it is asked for or found in a log; without a value it is a deletion. */
export interface Change {
  readonly key: string;
  readonly value?: Uint8Array;
  readonly lease?: LeaseId;
}

/**
 * With a value in memory of its own: that of the caller may be part of a pool, which a value that lives for years would
 * keep, and may be used again.
 */
function owned(change: Change): Change {
  if (change.value === undefined) return change;
  const value = Buffer.allocUnsafeSlow(change.value.length);
  value.set(change.value);
  return { ...change, value };
}

/** What a change at `revision` does to a key that holds `previous`. */
export function changeEvent(change: Change, revision: Revision, previous: KeyValue | undefined): KeyEvent {
  const { key, value, lease } = change;
  if (value === undefined) return { type: 'delete', key, revision, ...(previous && { previous }) };
  const keyValue: KeyValue = {
    key,
    value,
    createRevision: previous?.createRevision ?? revision,
    modRevision: revision,
    version: (previous?.version ?? 0) + 1,
    ...(lease !== undefined && { lease }),
  };
  return { type: 'put', key, revision, keyValue, ...(previous && { previous }) };
}
