// Walk 2b/10: what the write path (registry/write.ts) made is put into the keyspace here, if nobody was faster.
import type { Keyspace, KeyValue, LeaseId } from '@castellan/keyspace';
import { deepEqual, StatusError } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { type ObjectCodec, objectCodec, withRevision } from './codec.js';

/** What a change makes of the object that is there now. */
export type Change =
  | { readonly type: 'put'; readonly object: ApiObject }
  | { readonly type: 'delete'; readonly object: ApiObject };

export interface ChangeResult {
  readonly type: 'put' | 'delete' | 'unchanged';
  readonly object: ApiObject;
}

export interface ObjectStorage {
  get(key: string): Promise<ApiObject | undefined>;
  /** The same, for what many requests look at, such as their namespace: it is not read from its bytes for each. */
  getShared(key: string): Promise<ApiObject | undefined>;
  /** `undefined`: an object is already there and nothing was written. */
  create(key: string, object: ApiObject, lease?: LeaseId): Promise<ApiObject | undefined>;
  /**
   * Reads, changes, writes if nothing changed in between, else begins again with what is there now (SPEC.md A6–A9).
   * `change` is pure but for its reads: it may be called several times. `undefined`: no object is there.
   */
  guaranteedUpdate(key: string, change: ChangeFunction): Promise<ChangeResult | undefined>;
}

export type ChangeFunction = (current: ApiObject) => Change | Promise<Change>;

/** So many writers would have to overtake one request; then it is better to tell the client than to go on. */
const maxAttempts = 200;

/** An object may be of more than a megabyte: no more of them than help. */
const mostRecent = 8;

export function createObjectStorage(keyspace: Keyspace, codec: ObjectCodec = objectCodec()): ObjectStorage {
  async function read(key: string) {
    const { keyValue } = await keyspace.get(key);
    return keyValue;
  }

  const recent = new RecentObjects();

  return {
    async get(key) {
      const keyValue = await read(key);
      return keyValue === undefined ? undefined : codec.decode(keyValue).object;
    },

    async getShared(key) {
      const keyValue = await read(key);
      return keyValue === undefined ? undefined : recent.decoded(keyValue, codec);
    },

    async create(key, object, lease) {
      const options = lease === undefined ? { ifRevision: 0 } : { ifRevision: 0, lease };
      const result = await keyspace.put(key, codec.encode(key, object), options);
      return result.isWritten ? withRevision(object, result.revision) : undefined;
    },

    async guaranteedUpdate(key, change) {
      let keyValue = await read(key);
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        if (keyValue === undefined) return undefined;
        const { object: current, isStale } = codec.decode(keyValue);
        const wanted = await change(current);
        if (wanted.type === 'put' && !isStale && isSameContent(wanted.object, current)) {
          return { type: 'unchanged', object: current };
        }
        const ifRevision = keyValue.modRevision;
        const lease = keyValue.lease === undefined ? {} : { lease: keyValue.lease };
        const result =
          wanted.type === 'put'
            ? await keyspace.put(key, codec.encode(key, wanted.object), { ifRevision, ...lease })
            : await keyspace.delete(key, { ifRevision });
        if (result.isWritten) return { type: wanted.type, object: withRevision(wanted.object, result.revision) };
        keyValue = result.present;
      }
      throw StatusError.of('Timeout', `the object changed ${maxAttempts} times while it was being updated; try again`, {
        retryAfterSeconds: 1,
      });
    },
  };
}

/** The last few objects that were asked for. */
class RecentObjects {
  readonly #objects = new Map<string, ApiObject>();

  decoded(stored: KeyValue, codec: ObjectCodec): ApiObject {
    const known = this.#objects.get(stored.key);
    // The revision of a write is that of one value of one key.
    if (known?.metadata.resourceVersion === String(stored.modRevision)) return known;
    const { object } = codec.decode(stored);
    this.#objects.delete(stored.key);
    this.#objects.set(stored.key, object);
    const [oldest] = this.#objects.keys();
    if (oldest !== undefined && this.#objects.size > mostRecent) this.#objects.delete(oldest);
    return object;
  }
}

function isSameContent(left: ApiObject, right: ApiObject): boolean {
  const resourceVersion = '';
  return deepEqual(
    { ...left, metadata: { ...left.metadata, resourceVersion } },
    { ...right, metadata: { ...right.metadata, resourceVersion } },
  );
}
