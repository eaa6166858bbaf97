import type { Keyspace, Revision } from '@castellan/keyspace';
import { tooLargeRevision } from '../cache/watch-cache.js';
import { badRequest, notFound } from '../errors.js';
import type { ApiObject } from '../json.js';
import type { Selection } from '../request/selection.js';
import { collectionPrefix, storageKey } from '../storage/keys.js';
import { parseContinue } from './continue-token.js';
import { listAt } from './list-at.js';
import { cutPage, type ListResult } from './page.js';
import { present, presentReady, type Resource } from './resource.js';

/** The object as it is now. */
export async function getObject(resource: Resource, namespace: string | undefined, name: string): Promise<ApiObject> {
  const { definition, store } = resource;
  const key = storageKey(store.layout, { ...(namespace === undefined ? {} : { namespace }), name });
  const stored = await store.storage.get(key);
  if (stored === undefined) throw notFound(definition, name);
  return presentReady(definition, stored);
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

function parseListRevision(text: string): Revision {
  try {
    return parseRevision(text);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw badRequest(`invalid resource version: resourceVersion: ${problem}`);
  }
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
  const revision = parseListRevision(query.get('resourceVersion') ?? '');
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

async function fromCache(
  { store, definition }: Resource,
  page: { readonly prefix: string; readonly limit: number; readonly after: string; readonly selection: Selection },
): Promise<ListResult> {
  const { revision } = store.cache;
  const all = store.cache.list(page.prefix, page.after);
  const { selection } = page;
  if (!selection.isEverything) await definition.makeReady?.(all.map(({ object }) => object));
  const selected = selection.isEverything
    ? all
    : all.filter(({ object }) => selection.matches(present(definition, object)));
  const result = cutPage(selected, { ...page, revision });
  await definition.makeReady?.(result.entries.map(({ object }) => object));
  return result;
}
