import type { Revision } from '@castellan/keyspace';
import type { CacheEntry } from '../cache/cache-event.js';
import { expired } from '../errors.js';
import type { Selection } from '../request/selection.js';
import { encodeContinue } from './continue-token.js';

export interface ListResult {
  readonly revision: Revision;
  /** As stored; a version's view of them is made where they are written out. */
  readonly entries: readonly CacheEntry[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The first `limit` of what was selected, with the token for the rest. */
export function cutPage(
  selected: readonly CacheEntry[],
  page: { readonly prefix: string; readonly limit: number; readonly revision: Revision; readonly selection: Selection },
): ListResult {
  const { limit, revision, prefix, selection } = page;
  const last = selected[limit - 1];
  if (limit === 0 || selected.length <= limit || last === undefined) return { revision, entries: selected };
  return {
    revision,
    entries: selected.slice(0, limit),
    continue: encodeContinue(revision, last.key.slice(prefix.length)),
    ...(selection.isEverything ? { remainingItemCount: selected.length - limit } : {}),
  };
}

/** 410, with a token that goes on with what is there now. */
export function continueExpired(newToken: string): Error {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  return Object.assign(error, { status: { ...error.status, metadata: { continue: newToken } } });
}
