import type { CronJob } from '@castellan/machinery';
import type { Schedule } from './cron-schedule.js';
import type { TimeZone } from './time-zone.js';

/** When a CronJob was due last, and will be next. */
export interface DueTimes {
  /** The last time that was due since the last run; absent: none. */
  readonly dueMs?: number;
  /** Times that were due since the last run, about; those that `startingDeadlineSeconds` gives up are not counted. */
  readonly missed: number;
  /** Absent: never. */
  readonly nextMs?: number;
}

interface Timing {
  readonly schedule: Schedule;
  readonly zone: TimeZone;
}

/**
 * Of the times since the last run only the last counts. How many there were is worked out, not walked through: a CronJob that
 * waited for years asks for no more work than another. Source: mostRecentScheduleTime of kube-controller-manager.
 */
export function dueTimes(cronJob: CronJob, timing: Timing, nowMs: number): DueTimes {
  const { schedule, zone } = timing;
  const { creationTimestamp = '' } = cronJob.metadata;
  const sinceMs = Date.parse(cronJob.status?.lastScheduleTime ?? creationTimestamp);
  const firstMs = schedule.next(sinceMs, zone);
  if (firstMs === undefined) return { missed: 0 };
  if (nowMs < firstMs) return { missed: 0, nextMs: firstMs };
  const secondMs = schedule.next(firstMs, zone);
  if (secondMs === undefined) return { dueMs: firstMs, missed: 1 };
  const betweenMs = secondMs - firstMs;
  let dueMs = firstMs;
  let nextMs: number | undefined = schedule.next(searchFrom(firstMs, betweenMs, timing, nowMs), zone);
  while (nextMs !== undefined && nextMs <= nowMs) {
    dueMs = nextMs;
    nextMs = schedule.next(nextMs, zone);
  }
  const missed = countedMs(cronJob, firstMs, nowMs) / betweenMs;
  return { dueMs, missed: Math.floor(missed) + 1, ...(nextMs === undefined ? {} : { nextMs }) };
}

/** How much of the time since `firstMs` is not given up. */
function countedMs({ spec }: CronJob, firstMs: number, nowMs: number): number {
  const { startingDeadlineSeconds = Number.POSITIVE_INFINITY } = spec ?? {};
  return Math.min(nowMs - firstMs, startingDeadlineSeconds * 1_000);
}

/**
 * A time after which something is due by now, if there is one later than `firstMs`: as times need not be evenly spaced, ever
 * earlier ones are tried. Their distance is whole steps, so that intervals (`@every`) stay in step.
 */
function searchFrom(firstMs: number, betweenMs: number, { schedule, zone }: Timing, nowMs: number): number {
  for (let back = 1; ; back *= 2) {
    const steps = Math.floor((nowMs - firstMs) / betweenMs) - back;
    if (steps <= 0) return firstMs;
    const startMs = firstMs + steps * betweenMs;
    const foundMs = schedule.next(startMs, zone);
    if (foundMs !== undefined && foundMs <= nowMs) return startMs;
  }
}
