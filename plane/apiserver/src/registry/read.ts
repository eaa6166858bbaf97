import type { Keyspace, Revision } from '@castellan/keyspace';
import { type CacheEntry, tooLargeRevision } from '../cache/watch-cache.js';
import { badRequest, expired, notFound } from '../errors.js';
import type { ApiObject } from '../json.js';
import type { Selection } from '../request/selection.js';
import { collectionPrefix, storageKey } from '../storage/keys.js';
import { encodeContinue, parseContinue } from './continue-token.js';
import { listAt } from './list-at.js';
import { present, type Resource } from './resource.js';

export interface ListResult {
  readonly revision: Revision;
  /** As stored; a version's view of them is made where they are written out. */
  readonly entries: readonly CacheEntry[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** The object as it is now. */
export async function getObject(resource: Resource, namespace: string | undefined, name: string): Promise<ApiObject> {
  const { definition, store } = resource;
  const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
  const stored = await store.storage.get(key);
  if (stored === undefined) throw notFound(definition, name);
  return present(definition, stored);
}

/** `resourceVersion` of a get: not older than it; a 504 for one that has not been. */
export async function assertReached(keyspace: Keyspace, resourceVersion: string | null): Promise<void> {
  const wanted = parseRevision(resourceVersion ?? '');
  if (wanted === 0) return;
  const current = await keyspace.revision();
  if (current < wanted) throw tooLargeRevision(wanted, current);
}

export function parseRevision(text: string): Revision {
  if (text === '') return 0;
  const revision = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(revision)) {
    throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  }
  return revision;
}

/** A list by the rules of resourceVersion, resourceVersionMatch, limit and continue. */
export async function listObjects(
  resource: Resource,
  keyspace: Keyspace,
  options: { readonly namespace: string | undefined; readonly query: URLSearchParams; readonly selection: Selection },
): Promise<ListResult> {
  const { store } = resource;
  const { query, selection } = options;
  const prefix = collectionPrefix(store.layout, options.namespace);
  const limit = Math.max(0, Number(query.get('limit') ?? 0) || 0);
  const revision = parseRevision(query.get('resourceVersion') ?? '');
  const match = query.get('resourceVersionMatch') ?? '';
  const token = query.get('continue') ?? '';
  const page = { prefix, limit, selection };
  if (token !== '') {
    const { revision: at, after } = parseContinue(token, prefix);
    if (at > 0) return listAt(resource, keyspace, { ...page, revision: at, after });
    await store.cache.fresh();
    return fromCache(resource, { ...page, after });
  }
  const isExact = match === 'Exact' || (match === '' && limit > 0 && revision > 0);
  if (isExact) {
    await store.cache.reach(revision);
    return listAt(resource, keyspace, { ...page, revision, after: '' });
  }
  if (query.get('resourceVersion') === '0') {
    await store.cache.reach(0);
    return fromCache(resource, { ...page, limit: 0, after: '' });
  }
  if (revision > 0) await store.cache.reach(revision);
  else await store.cache.fresh();
  return fromCache(resource, { ...page, after: '' });
}

function fromCache(
  { store, definition }: Resource,
  page: { readonly prefix: string; readonly limit: number; readonly after: string; readonly selection: Selection },
): ListResult {
  const { revision } = store.cache;
  const all = store.cache.list(page.prefix, page.after);
  const { selection } = page;
  const selected = selection.isEverything
    ? all
    : all.filter(({ object }) => selection.matches(present(definition, object)));
  return cutPage(selected, { ...page, revision });
}

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

export function continueExpired(newToken: string): Error {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  return Object.assign(error, { status: { ...error.status, metadata: { continue: newToken } } });
}
