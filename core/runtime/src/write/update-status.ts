import type { Client } from '@castellan/client';
import type { KubernetesObject, ResourceType } from '@castellan/machinery';
import { isSame } from './merge-difference.js';

/**
 * Writes the status of `object` unless it is that already; gives the object as it is then. Fails with Conflict when the
 * object was changed since it was read.
 */
export async function updateStatus<T extends KubernetesObject & { readonly status?: unknown }>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  status: NonNullable<T['status']>,
): Promise<T> {
  if (isSame(object.status, status)) return object;
  return client.update(type, { ...object, status }, { subresource: 'status' });
}
