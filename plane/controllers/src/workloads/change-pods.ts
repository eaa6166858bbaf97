import { isStatusError, type KubernetesObject, keyOf, type Pod, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { isNamespaceTerminating } from '../namespace-terminating.js';

/** Makes a pod, and tells of it by an event about its owner, as upstream's controllers do. */
export async function createPod(
  owner: KubernetesObject,
  pod: Pod,
  { client, events, signal }: ReconcileContext,
): Promise<void> {
  try {
    const { metadata } = await client.create(pods, pod, { signal });
    events.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${metadata.name}` });
  } catch (error) {
    if (!isNamespaceTerminating(error)) {
      events.record(owner, { type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${errorText(error)}` });
    }
    throw error;
  }
}

/** Deletes this very pod, and tells of it by an event about its owner; one that is gone already is not told of. */
export async function deletePod(
  owner: KubernetesObject,
  pod: Pod,
  { client, events, signal }: ReconcileContext,
): Promise<void> {
  const { name, uid } = pod.metadata;
  try {
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    if (!(await client.delete(pods, keyOf(pod), { ...preconditions, signal }))) return;
    events.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` });
  } catch (error) {
    // Another pod has the name by now: the one that was meant is gone.
    if (isStatusError(error, 'Conflict')) return;
    events.record(owner, { type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${errorText(error)}` });
    throw error;
  }
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
