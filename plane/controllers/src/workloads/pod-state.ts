import { findCondition, type Pod } from '@castellan/machinery';

/** It runs or is to run: it has neither ended nor been told to. */
export function isActive(pod: Pod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined;
}

/** It was told to end, and has not yet. */
export function isTerminating(pod: Pod): boolean {
  return !hasEnded(pod) && pod.metadata.deletionTimestamp !== undefined;
}

/** It runs no more, well or not. */
export function hasEnded({ status }: Pod): boolean {
  return status?.phase === 'Succeeded' || status?.phase === 'Failed';
}

export function isReady(pod: Pod): boolean {
  return readyCondition(pod)?.status === 'True';
}

/** When it became ready, in milliseconds since 1970; `undefined` when it is not, or did not say when. */
export function readySinceMs(pod: Pod): number | undefined {
  const condition = readyCondition(pod);
  if (condition?.status !== 'True' || condition.lastTransitionTime === undefined) return undefined;
  return Date.parse(condition.lastTransitionTime);
}

/** Ready for so long that it counts as available. */
export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  const waitMs = availableInMs(pod, minReadySeconds, nowMs);
  return waitMs !== undefined && waitMs <= 0;
}

/** How long until a ready pod counts as available, if it stays ready: not positive when it does; `undefined` when it is not ready. */
function availableInMs(pod: Pod, minReadySeconds: number, nowMs: number): number | undefined {
  if (!isReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const sinceMs = readySinceMs(pod);
  return sinceMs === undefined ? undefined : sinceMs + minReadySeconds * 1_000 - nowMs;
}

/** When the first of these pods that is not available yet will be, in milliseconds from now; `undefined` when none is on its way. */
export function nextAvailableInMs(pods: readonly Pod[], minReadySeconds: number, nowMs: number): number | undefined {
  const waits = pods.flatMap((pod) => {
    const waitMs = availableInMs(pod, minReadySeconds, nowMs);
    return waitMs !== undefined && waitMs > 0 ? [waitMs] : [];
  });
  return waits.length === 0 ? undefined : Math.min(...waits);
}

function readyCondition({ status }: Pod) {
  return findCondition(status?.conditions, 'Ready');
}
