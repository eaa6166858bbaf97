import type { Client, WriteOptions } from '@castellan/client';
import {
  isRecord,
  isStatusError,
  type JsonRecord,
  type KubernetesObject,
  keyOf,
  type ResourceType,
} from '@castellan/machinery';
import type { OwnChange } from '../controller.js';

/** Somebody who writes the same object all the time must not keep a reconcile for ever. */
const mostTries = 5;

/**
 * Changes an object by a merge patch that holds for that version of it only. When somebody else was faster, `change` is
 * asked again with what they wrote. Gives the object as it is then, `undefined` when it is gone (or another has its name).
 *
 * @param change the body of the merge patch for the latest object; `undefined` when there is nothing to change.
 */
export async function patchLatest<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  change: (latest: T) => JsonRecord | undefined,
  options: WriteOptions = {},
): Promise<T | undefined> {
  let latest = object;
  for (let tries = 1; ; tries += 1) {
    const body = change(latest);
    if (body === undefined) return latest;
    try {
      return await client.patch(type, keyOf(object), { type: 'merge', body: onlyFor(latest, body) }, options);
    } catch (error) {
      if (!isStatusError(error, 'Conflict', 'NotFound') || tries === mostTries) throw error;
      const found = await client.find(type, keyOf(object));
      if (found === undefined || found.metadata.uid !== object.metadata.uid) return undefined;
      // The object is there, so what was not found is the subresource.
      if (isStatusError(error, 'NotFound')) throw error;
      latest = found;
    }
  }
}

/** What a write changed, from the version that it was made of; `undefined` where nothing was written. */
export function ownChange(before: KubernetesObject, after: KubernetesObject): OwnChange | undefined {
  const { resourceVersion: from = '' } = before.metadata;
  const { resourceVersion: to = '' } = after.metadata;
  return from === to ? undefined : { from, to };
}

function onlyFor({ metadata: { uid, resourceVersion } }: KubernetesObject, body: JsonRecord): JsonRecord {
  return { ...body, metadata: { ...(isRecord(body.metadata) ? body.metadata : {}), uid, resourceVersion } };
}
