import type { Pod } from '@castellan/machinery';

/** Why a pod fails as a whole, whatever its containers do. It stays failed, over restarts of the plane too. */
export interface PodFailure {
  /** `DeadlineExceeded`, `Evicted` and the like: `status.reason`. */
  readonly reason: string;
  readonly message: string;
}

/** When a pod with `activeDeadlineSeconds` is over, milliseconds since the epoch. */
export function activeDeadlineMs({ spec }: Pod, startedAtMs: number): number | undefined {
  const seconds = spec?.activeDeadlineSeconds;
  return seconds === undefined ? undefined : startedAtMs + seconds * 1000;
}

export const deadlineExceeded: PodFailure = {
  reason: 'DeadlineExceeded',
  message: 'Pod was active on the node longer than the specified deadline',
};
