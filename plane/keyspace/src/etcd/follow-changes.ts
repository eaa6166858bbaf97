import type { Revision } from '../keyspace.js';
import { procedures } from './calls.js';
import type { Cluster } from './cluster.js';
import { isServiceError } from './endpoint.js';
import type { WatchEvent, WatchResponse } from './messages.js';

/** Why a stream of changes ended. `closed`: the signal was aborted. */
export type StreamEnd =
  | { readonly type: 'closed' }
  | { readonly type: 'compacted'; readonly compactedRevision: Revision }
  | { readonly type: 'lost'; readonly reason: string };

/** Whole revisions, in order; `revision` is the last one. */
export interface Changes {
  readonly events: readonly WatchEvent[];
  readonly revision: Revision;
}

const openDeadlineMs = 5_000;
const everyKey = Buffer.from([0]);

/**
 * All changes of all keys of the etcd cluster after a revision, until the stream ends or the signal is aborted. Never
 * rejects. `onChanges` must not throw.
 *
 * Every key, and not those of a range, because every revision then brings an event, so that its arrival says that all
 * before it have been seen. etcd's own answer to that question, WatchProgressRequest, comes before the events that it
 * speaks of in all versions before 3.4.25 and 3.5.8 (etcd issue 15220).
 */
export async function followChanges(
  cluster: Cluster,
  after: Revision,
  onChanges: (changes: Changes) => void,
  signal: AbortSignal,
): Promise<StreamEnd> {
  if (signal.aborted) return { type: 'closed' };
  const endpoint = await cluster.connected(openDeadlineMs).catch((error: Error) => error);
  if (endpoint instanceof Error) return { type: 'lost', reason: endpoint.message };
  const stream = endpoint.openStream(procedures.watch);
  return await new Promise<StreamEnd>((resolve) => {
    let isEnded = false;
    const end = (how: StreamEnd): void => {
      if (isEnded) return;
      isEnded = true;
      signal.removeEventListener('abort', onAbort);
      cancelOpening();
      if (how.type === 'lost') cluster.avoid(endpoint);
      resolve(how);
      // Makes an `error` event of its own, and what was received already may still come: both are passed over.
      stream.cancel();
    };
    const lost = (reason: string): void => end({ type: 'lost', reason });
    const onAbort = (): void => end({ type: 'closed' });
    signal.addEventListener('abort', onAbort, { once: true });
    const cancelOpening = cluster.world.clock.after(openDeadlineMs, () => {
      lost(`${endpoint.address} did not begin to watch within ${openDeadlineMs / 1000} s`);
    });
    let fragments: readonly WatchEvent[] = [];
    const onResponse = (response: WatchResponse): void => {
      if (response.isCreated) cancelOpening();
      const events = fragments.concat(response.events);
      fragments = response.isFragment ? events : [];
      const revision = events.at(-1)?.keyValue?.modRevision;
      if (!response.isFragment && revision !== undefined) onChanges({ events, revision });
    };
    stream.on('data', (response) => {
      const ended = endOf(response);
      if (ended !== undefined) end(ended);
      else if (!isEnded) onResponse(response);
    });
    stream.on('error', (error) => lost(isServiceError(error) ? error.details : error.message));
    stream.on('end', () => lost(`${endpoint.address} ended the watch`));
    stream.write({
      create: {
        key: everyKey,
        rangeEnd: everyKey,
        startRevision: after + 1,
        wantsPrevious: true,
        allowsFragments: true,
      },
    });
  });
}

function endOf({ isCanceled, compactRevision, cancelReason }: WatchResponse): StreamEnd | undefined {
  if (compactRevision > 0) return { type: 'compacted', compactedRevision: compactRevision };
  if (isCanceled) return { type: 'lost', reason: cancelReason || 'etcd cancelled the watch' };
  return undefined;
}
