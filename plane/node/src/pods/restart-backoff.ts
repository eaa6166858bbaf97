import type { RunFacts } from './container-facts.js';

/** As kubelet's: the first restart at once, then after 10 s, doubling to 5 min; ten good minutes wipe the slate. */
const initialMs = 10_000;
const maximumMs = 300_000;
const resetAfterMs = 600_000;

/** When a container that ended may be started again. */
export function restartAtMs(run: RunFacts): number {
  if (run.end === undefined || run.end.isSuspended || hasRunLong(run)) return 0;
  return run.end.finishedAtMs + run.backoffMs;
}

/** The `backoffMs` of the run that follows `previous`. */
export function nextBackoffMs(previous: RunFacts | undefined): number {
  if (previous === undefined) return 0;
  if (previous.end?.isSuspended === true) return previous.backoffMs;
  if (previous.backoffMs === 0 || hasRunLong(previous)) return initialMs;
  return Math.min(previous.backoffMs * 2, maximumMs);
}

function hasRunLong(run: RunFacts): boolean {
  return run.end !== undefined && run.end.finishedAtMs - run.startedAtMs > resetAfterMs;
}
