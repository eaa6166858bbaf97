import { deepEqual, isStatusError, type KubernetesObject, keyOf, type ResourceType } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';

/**
 * Makes the status of an object be this one, unless it is, and with it the annotations that report on the object. Others may
 * change the rest of the object meanwhile: the status is of the generation that it names. Nothing happens when the object is gone.
 */
export async function writeStatus<T extends KubernetesObject & { readonly status?: object }>(
  type: ResourceType<T>,
  object: T,
  status: NonNullable<T['status']>,
  { client }: ReconcileContext,
  annotations: Readonly<Record<string, string>> = {},
): Promise<void> {
  const before: object = object.status ?? {};
  const reported = Object.entries(annotations).filter(([name, value]) => object.metadata.annotations?.[name] !== value);
  if (deepEqual(before, status) && reported.length === 0) return;
  const gone = Object.keys(before).filter((field) => !Object.hasOwn(status, field));
  const body = {
    metadata: {
      uid: object.metadata.uid,
      ...(reported.length > 0 && { annotations: Object.fromEntries(reported) }),
    },
    status: { ...status, ...Object.fromEntries(gone.map((field) => [field, null])) },
  };
  try {
    await client.patch(type, keyOf(object), { type: 'merge', body }, { subresource: 'status' });
  } catch (error) {
    // Another object has the name by now, or none.
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error;
  }
}
