import {
  claimsOfPod,
  isStatusError,
  type KubernetesObject,
  keyOf,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type ResourceType,
} from '@castellan/machinery';
import { type Controller, type ReconcileContext, watchSource } from '@castellan/runtime';
import { hasEnded } from '../workloads/pod-state.js';

const claimFinalizer = 'kubernetes.io/pvc-protection';
const volumeFinalizer = 'kubernetes.io/pv-protection';

/** Lets a deleted claim go once no pod uses it. Source: kube-controller-manager's pvc-protection. */
export function claimProtectionController(): Controller<PersistentVolumeClaim> {
  return {
    name: 'pvc-protection',
    for: persistentVolumeClaims,
    watches: [watchSource({ type: pods, map: claimsOfPod })],
    concurrency: 4,
    async reconcile(key, context) {
      const claim = context.cache.get(persistentVolumeClaims, key);
      if (claim === undefined || !isHeldBy(claim, claimFinalizer)) return undefined;
      const { namespace = '' } = key;
      if (context.cache.list(pods, { namespace }).some((pod) => uses(pod, key))) return undefined;
      // A pod that the cache does not show yet may have begun to use the claim.
      const { items } = await context.client.list(pods, { namespace, signal: context.signal });
      if (!items.some((pod) => uses(pod, key))) await release(persistentVolumeClaims, claim, claimFinalizer, context);
      return undefined;
    },
  };
}

/** Lets a deleted volume go once no claim is bound to it. Source: kube-controller-manager's pv-protection. */
export function volumeProtectionController(): Controller<PersistentVolume> {
  return {
    name: 'pv-protection',
    for: persistentVolumes,
    watches: [],
    concurrency: 4,
    async reconcile(key, context) {
      const volume = context.cache.get(persistentVolumes, key);
      if (volume === undefined || !isHeldBy(volume, volumeFinalizer) || volume.status?.phase === 'Bound') {
        return undefined;
      }
      await release(persistentVolumes, volume, volumeFinalizer, context);
      return undefined;
    },
  };
}

function isHeldBy({ metadata }: KubernetesObject, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
}

/** A pod that has ended, or that no node has yet, uses nothing. */
function uses(pod: Pod, claim: ObjectKey): boolean {
  if (hasEnded(pod) || (pod.spec?.nodeName ?? '') === '') return false;
  return claimsOfPod(pod).some(({ name }) => name === claim.name);
}

async function release<T extends KubernetesObject>(
  type: ResourceType<T>,
  object: T,
  finalizer: string,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const others = finalizers.filter((each) => each !== finalizer);
  const body = { metadata: { resourceVersion, finalizers: others.length === 0 ? null : others } };
  try {
    await client.patch(type, keyOf(object), { type: 'merge', body }, { signal });
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error;
  }
}
