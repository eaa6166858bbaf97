import { claimsOfPod, type ObjectKey, type Pod, persistentVolumeClaims, pods } from '@castellan/machinery';
import type { Reader } from '@castellan/runtime';
import type { ClusterState } from '../cluster/cluster-state.js';
import { crowded, hint, type SchedulerPlugin } from '../plugin.js';
import { usesClaim, usesClaims } from './claim-use.js';
import { leftNode } from './pod-changes.js';

/** A claim that is for one pod (ReadWriteOncePod) is used by one at a time. Source: upstream's VolumeRestrictions. */
export const volumeRestrictions: SchedulerPlugin = {
  name: 'VolumeRestrictions',
  hints: [
    hint({
      type: pods,
      mayHelp: (pod, change) => leftNode(change) && claimsOfPod(pod).some((claim) => usesClaim(change.object, claim)),
    }),
    hint({ type: persistentVolumeClaims, mayHelp: (pod, change) => change.kind === 'added' && usesClaims(pod) }),
  ],
  filterOf(pod, { cache, cluster }) {
    const exclusive = exclusiveClaims(pod, cache);
    const isTaken = exclusive.some((claim) => isInUse(claim, cluster));
    if (!isTaken) return undefined;
    const refusal = crowded(
      'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
    );
    return () => refusal;
  },
};

function exclusiveClaims(pod: Pod, cache: Reader): readonly ObjectKey[] {
  return claimsOfPod(pod).filter((key) => {
    const modes = cache.get(persistentVolumeClaims, key)?.spec?.accessModes ?? [];
    return modes.includes('ReadWriteOncePod');
  });
}

function isInUse(claim: ObjectKey, { nodes }: ClusterState): boolean {
  return nodes.some((node) => [...node.pods].some((other) => usesClaim(other, claim)));
}
