import type { Client } from '@castellan/client';
import { formatKey, isStatusError, type KubernetesObject, keyOf, type ResourceType } from '@castellan/machinery';
import { mergeDifference } from './merge-difference.js';

export interface EnsureOptions<T extends KubernetesObject> {
  /** The object as it is, where the caller has read it (from the cache, say); else it is read from the server. */
  readonly existing?: T;
  readonly fieldManager?: string;
}

/**
 * Makes the object be as `desired` in the fields that `desired` has; other fields are left alone, and a null removes one.
 * Creates it where it is absent, patches it where a field differs, writes nothing otherwise. Gives the object as it is then.
 * `status` is not looked at. Throws when the object is on its way out: its successor can be made when it is gone.
 */
export async function ensureObject<T extends KubernetesObject>(
  client: Client,
  type: ResourceType<T>,
  desired: T,
  options: EnsureOptions<T> = {},
): Promise<T> {
  const writeOptions = options.fieldManager === undefined ? {} : { fieldManager: options.fieldManager };
  const key = keyOf(desired);
  let existing = options.existing ?? (await client.find(type, key));
  if (existing === undefined) {
    try {
      return await client.create(type, desired, writeOptions);
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error;
      existing = await client.get(type, key);
    }
  }
  if (existing.metadata.deletionTimestamp !== undefined) {
    throw new Error(`${type.kind} ${formatKey(key)} is being deleted; it can be made anew when it is gone`);
  }
  const patch = mergeDifference(ownedFields(desired), existing);
  if (patch === undefined) return existing;
  return client.patch(type, key, { type: 'merge', body: patch }, writeOptions);
}

/** Type, name and status are not for a patch to change; of the metadata only what a client may set. */
function ownedFields(desired: KubernetesObject): unknown {
  const { labels, annotations, ownerReferences, finalizers } = desired.metadata;
  const fields = Object.entries(desired).filter(([name]) => !notOwned.has(name));
  return { ...Object.fromEntries(fields), metadata: { labels, annotations, ownerReferences, finalizers } };
}

const notOwned = new Set(['apiVersion', 'kind', 'metadata', 'status']);
