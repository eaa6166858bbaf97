import { isStatusError, keyOf, type Pod, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { trackingFinalizer } from './job-pods.js';

/** Lets pods go: their end is counted, or there is no Job to count it. */
export async function release(
  released: readonly Pod[],
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
): Promise<void> {
  await Promise.all(
    released.map(async (pod) => {
      const { uid, resourceVersion, finalizers = [] } = pod.metadata;
      const others = finalizers.filter((each) => each !== trackingFinalizer);
      const body = { metadata: { uid, resourceVersion, finalizers: others.length === 0 ? null : others } };
      try {
        await client.patch(pods, keyOf(pod), { type: 'merge', body }, { signal });
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
    }),
  );
}
