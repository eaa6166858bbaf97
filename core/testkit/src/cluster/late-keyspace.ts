import type { KeyRange, Keyspace, Revision, Watch, Watcher } from '@castellan/keyspace';
import type { World } from '@castellan/world';

/**
 * A keyspace as an API server sees it whose watches lag: its cache is behind, so lists and watches that may be served from
 * the cache are old, and reads that must be fresh wait. That is as stale as Kubernetes lets an answer be.
 */
export function lateKeyspace(keyspace: Keyspace, world: World, lagMs: () => number): Keyspace {
  return {
    revision: () => keyspace.revision(),
    get: (key, options) => keyspace.get(key, options),
    range: (range, options) => keyspace.range(range, options),
    put: (key, value, options) => keyspace.put(key, value, options),
    delete: (key, options) => keyspace.delete(key, options),
    watch: (range, after, watcher) => watchLate({ keyspace, world, lagMs }, range, after, watcher),
    grantLease: (ttlSeconds) => keyspace.grantLease(ttlSeconds),
    keepLeaseAlive: (lease) => keyspace.keepLeaseAlive(lease),
    revokeLease: (lease) => keyspace.revokeLease(lease),
    compact: (revision) => keyspace.compact(revision),
    compactedRevision: () => keyspace.compactedRevision(),
    status: () => keyspace.status(),
    close: async () => {},
  };
}

/** What is there when the watch begins comes at once: a server that starts has read it. */
async function watchLate(
  { keyspace, world, lagMs }: { readonly keyspace: Keyspace; readonly world: World; readonly lagMs: () => number },
  range: KeyRange,
  after: Revision,
  watcher: Watcher,
): Promise<Watch> {
  let isBegun = false;
  let isCancelled = false;
  let lastMs = 0;
  const later = (hand: () => void): void => {
    if (!isBegun) {
      hand();
      return;
    }
    const { clock } = world;
    lastMs = Math.max(lastMs, clock.monotonicNow() + lagMs());
    clock.after(lastMs - clock.monotonicNow(), () => {
      if (!isCancelled) hand();
    });
  };
  const watch = await keyspace.watch(range, after, {
    onEvents: (events) => later(() => watcher.onEvents(events)),
    onProgress: (revision) => later(() => watcher.onProgress?.(revision)),
    onEnd: (error) => later(() => watcher.onEnd(error)),
  });
  isBegun = true;
  return {
    cancel() {
      isCancelled = true;
      watch.cancel();
    },
  };
}
