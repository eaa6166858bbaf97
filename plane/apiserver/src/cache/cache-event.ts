import type { Revision } from '@castellan/keyspace';
import type { ApiObject } from '../json.js';

/** One change of one object. `after` is absent when it was deleted, `before` when it was created. */
export interface CacheEvent {
  readonly key: string;
  readonly revision: Revision;
  readonly before?: ApiObject;
  readonly after?: ApiObject;
  /** The event as bytes, by representation: made once, sent to every watcher that wants it so. */
  readonly encoded: Map<string, Uint8Array>;
}

export interface CacheEntry {
  readonly key: string;
  readonly object: ApiObject;
}
