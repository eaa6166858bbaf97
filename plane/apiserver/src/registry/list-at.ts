import { CompactedError, FutureRevisionError, type Keyspace, type Revision } from '@castellan/keyspace';
import type { CacheEntry } from '../cache/cache-event.js';
import { tooLargeRevision } from '../cache/watch-cache.js';
import { expired } from '../errors.js';
import type { Selection } from '../request/selection.js';
import { rangeOfPrefix } from '../storage/keys.js';
import { encodeInconsistentContinue } from './continue-token.js';
import { continueExpired, cutPage, type ListResult } from './page.js';
import { present, type Resource } from './resource.js';

interface Page {
  readonly prefix: string;
  readonly limit: number;
  readonly revision: Revision;
  /** '' for the first page. */
  readonly after: string;
  readonly selection: Selection;
}

/** A list as it was at a revision, read from the keyspace's history. */
export async function listAt(resource: Resource, keyspace: Keyspace, page: Page): Promise<ListResult> {
  try {
    return await readPages(resource, keyspace, page);
  } catch (error) {
    if (error instanceof FutureRevisionError) throw tooLargeRevision(page.revision, await keyspace.revision());
    if (!(error instanceof CompactedError)) throw error;
    if (page.after === '') throw expired('The resourceVersion for the provided list is too old.');
    throw continueExpired(encodeInconsistentContinue(page.after.slice(page.prefix.length)));
  }
}

async function readPages({ store, definition }: Resource, keyspace: Keyspace, page: Page): Promise<ListResult> {
  const { prefix, limit, revision, after, selection } = page;
  const { end = '' } = rangeOfPrefix(prefix);
  const entries: CacheEntry[] = [];
  let start = after === '' ? prefix : `${after}\0`;
  // With a selector a page may need many more objects than it returns: read on until it is full.
  for (;;) {
    const read = await keyspace.range({ start, end }, { revision, ...(limit === 0 ? {} : { limit: limit + 1 }) });
    const decoded = read.keyValues.map((stored) => ({ key: stored.key, object: store.codec.decode(stored).object }));
    await definition.makeReady?.(decoded.map(({ object }) => object));
    entries.push(...decoded.filter(({ object }) => selection.matches(present(definition, object))));
    const last = read.keyValues.at(-1);
    const isExhausted = last === undefined || read.keyValues.length >= read.count;
    if (isExhausted || (limit > 0 && entries.length > limit)) {
      const result = cutPage(entries, { ...page, revision });
      if (result.remainingItemCount === undefined) return result;
      return { ...result, remainingItemCount: read.count - limit };
    }
    start = `${last.key}\0`;
  }
}
