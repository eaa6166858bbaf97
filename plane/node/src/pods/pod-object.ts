import { isDeepStrictEqual } from 'node:util';
import { isStatusError, type Pod, type PodStatus, pods } from '@castellan/machinery';
import type { PodHost } from './pod-host.js';

/** Writes a status where it differs from what the pod has. Returns the status that the API server has then. */
export async function publishStatus(
  { client }: Pick<PodHost, 'client'>,
  pod: Pod,
  status: PodStatus,
): Promise<PodStatus | undefined> {
  const current = pod.status ?? {};
  if (isDeepStrictEqual({ ...current, ...status }, current)) return pod.status;
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  const body = { metadata: { uid }, status };
  try {
    const written = await client.patch(
      pods,
      { namespace, name },
      { type: 'merge', body },
      {
        subresource: 'status',
      },
    );
    return uid === written.metadata.uid ? written.status : pod.status;
  } catch (error) {
    // Gone, or another pod of that name: the watch says so in a moment.
    if (!isStatusError(error, 'NotFound', 'Conflict', 'Invalid')) throw error;
    return pod.status;
  }
}

/** Removes the object of a pod that has ended: the last step of its deletion. */
export async function deleteObject({ client }: Pick<PodHost, 'client'>, pod: Pod): Promise<void> {
  const { namespace = '', name = '', uid = '' } = pod.metadata;
  try {
    await client.delete(pods, { namespace, name }, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    // Another pod of that name is there already: ours is gone.
    if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
  }
}
