import type { KeyEvent, Keyspace, Revision, Watch } from '@castellan/keyspace';
import { StatusError } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { ApiObject } from '../json.js';
import type { ObjectCodec } from '../storage/codec.js';
import { rangeOfPrefix } from '../storage/keys.js';
import type { CacheEntry, CacheEvent } from './cache-event.js';
import { EventWindow } from './event-window.js';
import { OrderedEntries } from './ordered-entries.js';

export interface CacheListener {
  /** There are new events, or the cache has seen a later revision. */
  onAdvance(): void;
  /** The cache lost its own watch: what follows cannot be told without gap. */
  onEnd(): void;
}

/** How long a request waits for a revision that the cache has not reached, as kube-apiserver does. */
const revisionWaitMs = 3000;

/**
 * One resource's objects and their latest changes in memory, kept by one watch of the keyspace. Begun by its first use.
 * SPEC.md A1–A5 say what it promises.
 */
export class WatchCache {
  private readonly keyspace: Keyspace;
  private readonly world: World;
  private readonly codec: ObjectCodec;
  private readonly prefix: string;
  private entries = new OrderedEntries();
  private events = new EventWindow(0);
  private seenRevision: Revision = 0;
  private starting: Promise<void> | undefined;
  private upstream: Watch | undefined;
  private readonly listeners = new Set<CacheListener>();
  private waiting: { readonly revision: Revision; readonly resolve: () => void }[] = [];
  private isClosed = false;

  constructor(options: { keyspace: Keyspace; world: World; prefix: string; codec: ObjectCodec }) {
    this.keyspace = options.keyspace;
    this.world = options.world;
    this.prefix = options.prefix;
    this.codec = options.codec;
  }

  /** All changes up to this revision are in the cache. */
  get revision(): Revision {
    return this.seenRevision;
  }

  get window(): EventWindow {
    return this.events;
  }

  /** Resolves when the cache holds every write that was acknowledged before the call. */
  async fresh(): Promise<void> {
    await this.start();
    await this.reach(await this.keyspace.revision());
  }

  /** Resolves when the cache holds all changes up to `revision`; a 504 after 3 s. */
  async reach(revision: Revision): Promise<void> {
    await this.start();
    if (this.seenRevision >= revision) return;
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        revision,
        resolve: () => {
          cancel();
          resolve();
        },
      };
      const cancel = this.world.clock.after(revisionWaitMs, () => {
        this.waiting = this.waiting.filter((other) => other !== waiter);
        reject(tooLargeRevision(revision, this.seenRevision));
      });
      this.waiting.push(waiter);
    });
  }

  get(key: string): ApiObject | undefined {
    return this.entries.get(key);
  }

  /** In key order, those whose key begins with `prefix` and comes after `after`. */
  list(prefix: string, after = ''): readonly CacheEntry[] {
    return this.entries.within(rangeOfPrefix(prefix), after);
  }

  listen(listener: CacheListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Makes the window reach back to `revision`; false when that history is compacted. */
  async reachBack(revision: Revision): Promise<boolean> {
    await this.start();
    const window = this.events;
    if (window.reaches(revision)) return true;
    if (revision < (await this.keyspace.compactedRevision())) return false;
    const until = window.start;
    const missing = await this.history(revision, until);
    // In between the window may have moved on, or the cache begun again: then there is a gap, and the client lists anew.
    if (missing !== undefined && window === this.events && window.start === until) {
      window.prepend(revision, missing, this.world.clock.monotonicNow());
    }
    return this.events.reaches(revision);
  }

  close(): void {
    this.isClosed = true;
    this.reset();
  }

  private start(): Promise<void> {
    if (this.isClosed) throw StatusError.of('ServiceUnavailable', 'the server is shutting down');
    this.starting ??= this.load().catch((error: unknown) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
  }

  private async load(): Promise<void> {
    const range = rangeOfPrefix(this.prefix);
    const { revision, keyValues } = await this.keyspace.range(range);
    const entries = new OrderedEntries();
    for (const stored of keyValues) entries.set(stored.key, this.codec.decode(stored).object);
    this.entries = entries;
    this.events = new EventWindow(revision);
    this.seenRevision = revision;
    this.upstream = await this.keyspace.watch(range, revision, {
      onEvents: (events) => this.accept(events),
      onProgress: (reached) => this.advance(reached),
      onEnd: () => this.reset(),
    });
    if (this.isClosed) this.reset();
  }

  private accept(events: readonly KeyEvent[]): void {
    const now = this.world.clock.monotonicNow();
    for (const event of events) {
      const { key, revision, keyValue } = event;
      const before = this.entries.get(key);
      if (keyValue === undefined) {
        this.entries.delete(key);
        if (before !== undefined) this.events.append({ key, revision, before, encoded: new Map() }, now);
      } else {
        const after = this.codec.decode(keyValue).object;
        this.entries.set(key, after);
        this.events.append(cacheEvent(key, revision, before, after), now);
      }
    }
    this.advance(events.at(-1)?.revision ?? this.seenRevision);
  }

  private advance(revision: Revision): void {
    if (revision <= this.seenRevision) return;
    this.seenRevision = revision;
    const reached = this.waiting.filter((waiter) => waiter.revision <= revision);
    if (reached.length > 0) this.waiting = this.waiting.filter((waiter) => waiter.revision > revision);
    for (const waiter of reached) waiter.resolve();
    for (const listener of this.listeners) listener.onAdvance();
  }

  /** The events of (after, until]; undefined when they cannot be had. */
  private async history(after: Revision, until: Revision): Promise<readonly CacheEvent[] | undefined> {
    const found: CacheEvent[] = [];
    let watching: Promise<Watch> | undefined;
    const isWhole = await new Promise<boolean>((resolve) => {
      const cancel = this.world.clock.after(revisionWaitMs, () => resolve(false));
      const settle = (whole: boolean) => {
        cancel();
        resolve(whole);
      };
      watching = this.keyspace.watch(rangeOfPrefix(this.prefix), after, {
        onEvents: (events) => {
          for (const event of events) if (event.revision <= until) found.push(this.historicEvent(event));
        },
        onProgress: (reached) => {
          if (reached >= until) settle(true);
        },
        onEnd: () => settle(false),
      });
      watching.catch(() => settle(false));
    });
    watching?.then(
      (watch) => watch.cancel(),
      () => {},
    );
    return isWhole ? found : undefined;
  }

  private historicEvent(event: KeyEvent): CacheEvent {
    const { key, revision, keyValue, previous } = event;
    const before = previous === undefined ? undefined : this.codec.decode(previous).object;
    const after = keyValue === undefined ? undefined : this.codec.decode(keyValue).object;
    return cacheEvent(key, revision, before, after);
  }

  private reset(): void {
    this.starting = undefined;
    this.upstream?.cancel();
    this.upstream = undefined;
    const listeners = [...this.listeners];
    this.listeners.clear();
    for (const listener of listeners) listener.onEnd();
  }
}

function cacheEvent(
  key: string,
  revision: Revision,
  before: ApiObject | undefined,
  after: ApiObject | undefined,
): CacheEvent {
  return {
    key,
    revision,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    encoded: new Map(),
  };
}

export function tooLargeRevision(wanted: Revision, current: Revision): StatusError {
  const message = `Too large resource version: ${wanted}, current: ${current}`;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `Timeout: ${message}`,
    reason: 'Timeout',
    details: {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    },
    code: 504,
  });
}
