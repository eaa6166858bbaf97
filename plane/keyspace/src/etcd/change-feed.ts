import { CompactedError, EtcdUnreachableError, FutureRevisionError, type KeyspaceError } from '../errors.js';
import type { KeyEvent, KeyRange, Revision, Watch, Watcher } from '../keyspace.js';
import { isInRange } from '../mvcc/key-order.js';
import { WatchHub } from '../mvcc/watch-hub.js';
import type { Cluster } from './cluster.js';
import { type Changes, followChanges, type StreamEnd } from './follow-changes.js';
import type { KeyMapping } from './key-mapping.js';
import { RecentChanges } from './recent-changes.js';

export interface ChangeFeedOptions {
  readonly cluster: Cluster;
  readonly keys: KeyMapping;
  /** Of the present, linearizable. */
  readonly currentRevision: () => Promise<Revision>;
  readonly onNotice: (message: string) => void;
}

/** How long a caller waits for changes that etcd has and this process has not seen. */
const reachDeadlineMs = 10_000;
const firstRetryMs = 20;
const maxRetryMs = 1_000;

/**
 * Every change of the etcd cluster, once and in order, from one stream for all watches. When the stream breaks, the next
 * one begins after the last whole revision that was handed over. When that cannot be continued without a gap, because
 * history was compacted or etcd went back to a backup, every watch ends with an error and the feed begins anew.
 */
export class ChangeFeed {
  readonly #options: ChangeFeedOptions;
  readonly #closing = new AbortController();
  #hub = new WatchHub();
  #recent: RecentChanges;
  /** Everything up to here was handed over. */
  #position: Revision;
  #waiting: { readonly revision: Revision; readonly resolve: () => void }[] = [];
  #running: Promise<void> = Promise.resolve();

  constructor(start: Revision, options: ChangeFeedOptions) {
    this.#options = options;
    this.#position = start;
    this.#recent = new RecentChanges(start);
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Resolves when every change up to `revision` was handed over. */
  async reach(revision: Revision, deadlineMs = reachDeadlineMs): Promise<void> {
    if (revision <= this.#position) return;
    const { cluster } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        revision,
        resolve: () => {
          cancel();
          resolve();
        },
      };
      const cancel = cluster.world.clock.after(deadlineMs, () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiter);
        const reason = `it has told of changes up to revision ${this.#position} and not of those up to ${revision}`;
        reject(new EtcdUnreachableError(cluster.addresses, reason));
      });
      this.#waiting.push(waiter);
    });
  }

  /** Opens a watch; changes after `after` that were handed over to others before are read from etcd's history. */
  async watch(range: KeyRange, after: Revision, watcher: Watcher): Promise<Watch> {
    let history: readonly KeyEvent[] = [];
    let since = after;
    while (since < this.#recent.start) {
      const until = this.#recent.start;
      history = history.concat(await this.#history(range, since, until));
      since = until;
    }
    // From here on nothing waits, so the present follows the past without a gap.
    const events = history.concat(this.#recent.after(since));
    return this.#hub.open(range, after, watcher, { events, revision: this.#position });
  }

  /** Ends every watch, without an error. Resolves when nothing of the feed is under way, which ends with the cluster. */
  close(): Promise<void> {
    this.#closing.abort();
    this.#hub.endAll();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { cluster, onNotice } = this.#options;
    const { signal } = this.#closing;
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      const before = this.#position;
      const end = await this.#follow();
      // A stream that brought nothing may fail in the same way at once: for that the waits get longer, and one notice is enough.
      if (this.#position !== before) retryMs = firstRetryMs;
      if (end.type === 'lost' && retryMs === firstRetryMs) {
        onNotice(`the watch of etcd was lost (${end.reason}); it is opened again`);
      }
      // As long as etcd cannot even be asked for its revision, there is no use in opening the next stream.
      for (let isContinued = end.type === 'closed'; !isContinued && !signal.aborted; ) {
        await cluster.world.clock.sleep(retryMs, signal).catch(() => undefined);
        retryMs = Math.min(retryMs * 2, maxRetryMs);
        isContinued = await this.#continueAfter(end).then(
          () => true,
          () => false,
        );
      }
    }
  }

  /** Takes the changes after the position until the stream ends, or leaves out a revision: then those are compacted. */
  async #follow(): Promise<StreamEnd> {
    const gap = new AbortController();
    const signal = AbortSignal.any([this.#closing.signal, gap.signal]);
    const onChanges = (changes: Changes): void => {
      if (isContinuing(changes, this.#position)) this.#publish(changes);
      else gap.abort();
    };
    const end = await followChanges(this.#options.cluster, this.#position, onChanges, signal);
    return gap.signal.aborted ? { type: 'compacted', compactedRevision: this.#position + 1 } : end;
  }

  #publish({ events: stored, revision }: Changes): void {
    const events = stored.flatMap((event) => this.#options.keys.eventFromEtcd(event) ?? []);
    this.#recent.append(events);
    this.#position = revision;
    this.#hub.publish({ events, revision });
    this.#wakeWaiting();
  }

  #wakeWaiting(): void {
    const revision = this.#position;
    const reached = this.#waiting.filter((waiter) => waiter.revision <= revision);
    this.#waiting = this.#waiting.filter((waiter) => waiter.revision > revision);
    for (const { resolve } of reached) resolve();
  }

  /** After a stream: can the next one go on where this one ended? */
  async #continueAfter(end: StreamEnd): Promise<void> {
    if (end.type === 'closed') return;
    const current = await this.#options.currentRevision();
    if (end.type === 'compacted') {
      this.#beginAnew(current, new CompactedError(this.#position, end.compactedRevision));
    } else if (current < this.#position) {
      this.#beginAnew(current, new FutureRevisionError(this.#position, current));
    }
  }

  #beginAnew(revision: Revision, error: KeyspaceError): void {
    const hub = this.#hub;
    this.#hub = new WatchHub();
    this.#recent = new RecentChanges(revision);
    this.#position = revision;
    this.#options.onNotice(`every watch of etcd ends: ${error.message}`);
    hub.endAll(error);
    this.#wakeWaiting();
  }

  /** The changes in (after, until], from a stream of their own. */
  async #history(range: KeyRange, after: Revision, until: Revision): Promise<readonly KeyEvent[]> {
    const { cluster, keys } = this.#options;
    const found: KeyEvent[] = [];
    let position = after;
    let isGap = false;
    const done = new AbortController();
    const onChanges = (changes: Changes): void => {
      isGap = !isContinuing(changes, position);
      position = changes.revision;
      const wanted = isGap ? [] : changes.events.flatMap((stored) => keys.eventFromEtcd(stored) ?? []);
      found.push(...wanted.filter((event) => event.revision <= until && isInRange(range, event.key)));
      if (isGap || position >= until) done.abort();
    };
    const cancelDeadline = cluster.world.clock.after(reachDeadlineMs, () => done.abort());
    const signal = AbortSignal.any([this.#closing.signal, done.signal]);
    const end = await followChanges(cluster, after, onChanges, signal);
    cancelDeadline();
    if (end.type === 'compacted') throw new CompactedError(after, end.compactedRevision);
    if (isGap) throw new CompactedError(after, position);
    if (position >= until) return found;
    const reason = end.type === 'lost' ? end.reason : `history up to revision ${until} did not come`;
    throw new EtcdUnreachableError(cluster.addresses, reason);
  }
}

/** Is the next revision the first one in there, and is none missing? Only compaction takes one away. */
function isContinuing({ events }: Changes, after: Revision): boolean {
  let last = after;
  for (const { keyValue } of events) {
    const revision = keyValue?.modRevision ?? 0;
    if (revision !== last + 1 && (revision !== last || last === after)) return false;
    last = revision;
  }
  return true;
}
