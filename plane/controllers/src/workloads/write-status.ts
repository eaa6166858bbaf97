import { deepEqual, isStatusError, type KubernetesObject, keyOf, type ResourceType } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';

/**
 * Makes the status of an object be this one, unless it is. Others may change the rest of the object meanwhile: the status is
 * of the generation that it names. Nothing happens when the object is gone.
 */
export async function writeStatus<S extends object, T extends KubernetesObject & { readonly status?: S }>(
  type: ResourceType<T>,
  object: T,
  status: S,
  { client }: ReconcileContext,
): Promise<void> {
  const before = object.status ?? {};
  if (deepEqual(before, status)) return;
  const gone = Object.keys(before).filter((field) => !Object.hasOwn(status, field));
  const body = {
    metadata: { uid: object.metadata.uid },
    status: { ...status, ...Object.fromEntries(gone.map((field) => [field, null])) },
  };
  try {
    await client.patch(type, keyOf(object), { type: 'merge', body }, { subresource: 'status' });
  } catch (error) {
    // Another object has the name by now, or none.
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error;
  }
}
