import { isTolerated, type Pod, type Taint } from '@castellan/machinery';

export function isDriving({ effect }: Taint): boolean {
  return effect === 'NoExecute';
}

/**
 * When the first of these NoExecute taints drives the pod from its node, in ms since 1970: as long after it was added, or after the pod
 * came, as the toleration allows. `undefined`: never.
 */
export function evictionTimeMs(
  pod: Pod,
  taints: readonly Taint[],
  addedMs: (taint: Taint) => number,
): number | undefined {
  const cameMs = Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? '') || 0;
  const times = taints.flatMap((taint) => {
    const toleration = pod.spec?.tolerations?.find((each) => isTolerated(taint, [each]));
    if (toleration === undefined) return [addedMs(taint)];
    if (toleration.tolerationSeconds === undefined) return [];
    return [Math.max(addedMs(taint), cameMs) + 1000 * Math.max(0, toleration.tolerationSeconds)];
  });
  return times.length === 0 ? undefined : Math.min(...times);
}
