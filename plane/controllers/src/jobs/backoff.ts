import type { Pod } from '@castellan/machinery';
import { endedAtMs } from './job-pods.js';

const firstMs = 10_000;
const longestMs = 10 * 60_000;

/** Failures of a Job's pods since one of them succeeded. */
export interface FailureStreak {
  readonly count: number;
  readonly lastMs: number;
}

export const noFailures: FailureStreak = { count: 0, lastMs: 0 };

/** The streak after more pods have ended. */
export function streakAfter(before: FailureStreak, succeeded: readonly Pod[], failed: readonly Pod[]): FailureStreak {
  const failures = failed.map(endedAtMs);
  if (succeeded.length === 0) {
    return failures.length === 0
      ? before
      : { count: before.count + failures.length, lastMs: Math.max(before.lastMs, ...failures) };
  }
  const lastSuccessMs = Math.max(...succeeded.map(endedAtMs));
  const later = failures.filter((failure) => failure > lastSuccessMs);
  return later.length === 0 ? noFailures : { count: later.length, lastMs: Math.max(...later) };
}

/** For how long no pod may be made yet: 10 s after one failure, doubling to 10 min. Source: kube-controller-manager's Job controller. */
export function backoffLeftMs({ count, lastMs }: FailureStreak, nowMs: number): number {
  if (count === 0) return 0;
  const waitMs = Math.min(longestMs, firstMs * 2 ** Math.min(count - 1, 16));
  return Math.max(0, lastMs + waitMs - nowMs);
}
