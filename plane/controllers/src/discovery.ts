import { setMaxListeners } from 'node:events';
import type { Client } from '@castellan/client';
import { apiVersionOf, type ResourceType } from '@castellan/machinery';
import { fieldOf, listAt, textAt } from './document.js';

/** A resource that an API server serves now, in the version that it prefers. */
export interface ServedResource extends ResourceType {
  readonly verbs: readonly string[];
}

export interface Discovery {
  readonly resources: readonly ServedResource[];
  /** Group versions that could not be read: what they hold is unknown, not absent. */
  readonly failed: readonly string[];
}

/**
 * Every resource of the server, without subresources, by the discovery documents under /api and /apis.
 * Fails when the list of groups itself cannot be read.
 */
export async function discover(client: Client, stop: AbortSignal): Promise<Discovery> {
  const signal = forManyListeners(stop);
  const groups = parseGroups(await getJson(client, '/apis', signal));
  const documents = await Promise.all(
    [{ group: '', version: 'v1' }, ...groups].map(async ({ group, version }) => {
      const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
      try {
        return { resources: parseResources(group, version, await getJson(client, path, signal)), failed: [] };
      } catch (error) {
        if (signal.aborted) throw error;
        return { resources: [], failed: [apiVersionOf({ group, version })] };
      }
    }),
  );
  return {
    resources: documents.flatMap(({ resources }) => resources),
    failed: documents.flatMap(({ failed }) => failed),
  };
}

/** The same signal, for as many requests at once as there are: Node takes more than ten listeners for a leak. */
export function forManyListeners(signal: AbortSignal): AbortSignal {
  const same = AbortSignal.any([signal]);
  setMaxListeners(0, same);
  return same;
}

async function getJson(client: Client, path: string, signal: AbortSignal): Promise<unknown> {
  const response = await client.request({ method: 'GET', path, headers: { accept: 'application/json' }, signal });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  if (response.status !== 200) throw new Error(`GET ${path} answered ${response.status}: ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

/** An APIGroupList: the preferred version of each group. */
function parseGroups(document: unknown): readonly { readonly group: string; readonly version: string }[] {
  return listAt(document, 'groups').flatMap((entry) => {
    const group = textAt(entry, 'name');
    const version = textAt(fieldOf(entry, 'preferredVersion'), 'version');
    return group === undefined || version === undefined ? [] : [{ group, version }];
  });
}

/** An APIResourceList. */
function parseResources(group: string, version: string, document: unknown): readonly ServedResource[] {
  return listAt(document, 'resources').flatMap((entry) => {
    const plural = textAt(entry, 'name');
    const kind = textAt(entry, 'kind');
    if (plural === undefined || kind === undefined || plural.includes('/')) return [];
    const verbs = listAt(entry, 'verbs').filter((verb) => typeof verb === 'string');
    return [{ group, version, kind, plural, isNamespaced: fieldOf(entry, 'namespaced') === true, verbs }];
  });
}
