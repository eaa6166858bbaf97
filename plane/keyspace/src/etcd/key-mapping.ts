import type { KeyEvent, KeyRange, KeyValue, LeaseId } from '../keyspace.js';
import { prefixRange, UNBOUNDED_END } from '../mvcc/key-order.js';
import { deleteEvent, type StoredKey, type WatchEvent } from './messages.js';

/** Keys of the keyspace as etcd has them: with a prefix before them, as bytes. */
export class KeyMapping {
  readonly #prefix: string;
  readonly #prefixBytes: Buffer;

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#prefixBytes = Buffer.from(prefix);
  }

  toEtcd(key: string): Buffer {
    return Buffer.from(this.#prefix + key);
  }

  rangeToEtcd({ start, end }: KeyRange): { readonly key: Buffer; readonly rangeEnd?: Buffer } {
    // The empty key is none of ours, and none of etcd's, not even as the start of a range.
    const key = this.toEtcd(start || '\0');
    if (end === undefined) return { key };
    const wholeEnd = end === UNBOUNDED_END ? prefixRange(this.#prefix).end : this.#prefix + end;
    return { key, rangeEnd: Buffer.from(wholeEnd ?? UNBOUNDED_END) };
  }

  fromEtcd(stored: StoredKey): KeyValue {
    const { createRevision, modRevision, version, value, lease } = stored;
    return {
      key: this.#key(stored.key),
      value,
      createRevision,
      modRevision,
      version,
      ...(lease !== 0n && { lease: leaseFromEtcd(lease) }),
    };
  }

  /** `undefined`: the key is not of this keyspace. */
  eventFromEtcd({ type, keyValue, previous }: WatchEvent): KeyEvent | undefined {
    if (keyValue === undefined || !this.#isOurs(keyValue.key)) return undefined;
    return {
      type: type === deleteEvent ? 'delete' : 'put',
      key: this.#key(keyValue.key),
      revision: keyValue.modRevision,
      ...(type !== deleteEvent && { keyValue: this.fromEtcd(keyValue) }),
      ...(previous && { previous: this.fromEtcd(previous) }),
    };
  }

  #isOurs(key: Uint8Array): boolean {
    const { length } = this.#prefixBytes;
    return key.length > length && this.#prefixBytes.equals(key.subarray(0, length));
  }

  #key(key: Uint8Array): string {
    return Buffer.from(key.subarray(this.#prefixBytes.length)).toString();
  }
}

/** As etcdctl writes them: hexadecimal. */
export function leaseFromEtcd(lease: bigint): LeaseId {
  return BigInt.asUintN(64, lease).toString(16);
}

/** `undefined`: it is none, and no lease has that name. */
export function leaseToEtcd(lease: LeaseId): bigint | undefined {
  return /^[0-9a-f]{1,16}$/.test(lease) ? BigInt.asIntN(64, BigInt(`0x${lease}`)) : undefined;
}
