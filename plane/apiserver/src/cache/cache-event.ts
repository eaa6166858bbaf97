import type { Revision } from '@castellan/keyspace';
import type { ApiObject } from '../json.js';
import { withRevision } from '../storage/codec.js';

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

/** The object that left the cache, or a watcher's selection, as watchers see it: the old one at the new revision. */
export function departed(event: CacheEvent): ApiObject | undefined {
  return event.before === undefined ? undefined : withRevision(event.before, event.revision);
}
