import { type CronJob, deepEqual, type Job, type ObjectReference } from '@castellan/machinery';
import type { EventNote } from '@castellan/runtime';
import { finalConditionOf } from '../jobs/job-view.js';
import { apiTime } from '../workloads/api-time.js';
import { parseSchedule, type Schedule, ScheduleError } from './cron-schedule.js';
import { dueTimes } from './due-time.js';
import { TimeZone } from './time-zone.js';

export interface CronJobPlan {
  readonly status: NonNullable<CronJob['status']>;
  readonly isChanged: boolean;
  /** Jobs of the past that are too many, oldest first of each kind. */
  readonly obsolete: readonly Job[];
  /** What is to run now. */
  readonly run?: CronRun;
  readonly events: readonly EventNote[];
  /** When something is due next, in milliseconds from now; absent: when something changes. */
  readonly waitMs?: number;
}

export interface CronRun {
  readonly jobName: string;
  readonly scheduledMs: number;
  /** As the time zone of the CronJob writes it. */
  readonly scheduled: string;
  /** Active jobs that make room for it. */
  readonly replaces: readonly Job[];
}

/** A little after the time itself: a clock that is early must not find nothing due. */
const afterDueMs = 100;
/** More missed times than this are told. */
const fewMissed = 100;

/** What a CronJob and its jobs ask for now. Source: kube-controller-manager's CronJob controller. */
export function planCronJob(cronJob: CronJob, jobs: readonly Job[], nowMs: number): CronJobPlan {
  const { status, events } = trackedStatus(cronJob, jobs);
  const base = {
    status,
    isChanged: !deepEqual(cronJob.status ?? {}, status),
    obsolete: obsoleteJobs(cronJob, jobs),
  };
  const timing = timingOf(cronJob);
  if (!('schedule' in timing)) return { ...base, events: [...events, ...timing.events] };
  return { ...base, ...planRun(cronJob, jobs, { ...timing, status, events }, nowMs) };
}

interface Timing {
  readonly schedule: Schedule;
  readonly zone: TimeZone;
}

interface RunFacts extends Timing {
  readonly status: NonNullable<CronJob['status']>;
  readonly events: readonly EventNote[];
}

function planRun(
  cronJob: CronJob,
  jobs: readonly Job[],
  { schedule, zone, status, events }: RunFacts,
  nowMs: number,
): Pick<CronJobPlan, 'run' | 'events' | 'waitMs'> {
  const { startingDeadlineSeconds, concurrencyPolicy } = cronJob.spec ?? {};
  const { dueMs, missed, nextMs } = dueTimes(cronJob, { schedule, zone }, nowMs);
  const wait = nextMs === undefined ? {} : { waitMs: nextMs - nowMs + afterDueMs };
  const missedNote = missed > fewMissed ? [tooManyMissed] : [];
  const nothing = { events: [...events, ...missedNote], ...wait };
  if (dueMs === undefined) return nothing;
  if (startingDeadlineSeconds !== undefined && dueMs + startingDeadlineSeconds * 1_000 < nowMs) {
    const message = `Missed scheduled time to start a job: ${zone.rfc1123(dueMs)}`;
    return { ...nothing, events: [...nothing.events, { type: 'Warning', reason: 'MissSchedule', message }] };
  }
  const jobName = `${cronJob.metadata.name ?? ''}-${Math.floor(dueMs / 60_000)}`;
  const active = status.active ?? [];
  const isStarted = active.some(({ name }) => name === jobName) || status.lastScheduleTime === apiTime(dueMs);
  if (isStarted) return nothing;
  if (concurrencyPolicy === 'Forbid' && active.length > 0) {
    return { ...nothing, events: [...nothing.events, alreadyActive] };
  }
  const uids = new Set(active.map(({ uid }) => uid));
  const replaces = concurrencyPolicy === 'Replace' ? jobs.filter(({ metadata }) => uids.has(metadata.uid)) : [];
  return { ...nothing, run: { jobName, scheduledMs: dueMs, scheduled: zone.rfc3339(dueMs), replaces } };
}

/** How the schedule is to be read; with what is wrong with it, or nothing when there is nothing to do. */
function timingOf({ metadata, spec }: CronJob): Timing | { readonly events: readonly EventNote[] } {
  if (metadata.deletionTimestamp !== undefined || spec === undefined || spec.suspend === true) return { events: [] };
  const { timeZone = 'UTC', schedule } = spec;
  try {
    return { zone: new TimeZone(timeZone), schedule: parseSchedule(schedule) };
  } catch (error) {
    if (error instanceof RangeError) {
      const message = `invalid timeZone: ${JSON.stringify(timeZone)}: unknown time zone ${timeZone}`;
      return { events: [{ type: 'Warning', reason: 'UnknownTimeZone', message }] };
    }
    if (!(error instanceof ScheduleError)) throw error;
    const message = `unparseable schedule: ${JSON.stringify(schedule)} : ${error.message}`;
    return { events: [{ type: 'Warning', reason: 'UnparseableSchedule', message }] };
  }
}

/** Which jobs run, and when the last one succeeded, with what is to be told of those that came and went. */
function trackedStatus(cronJob: CronJob, jobs: readonly Job[]) {
  const before = cronJob.status ?? {};
  const known = new Set((before.active ?? []).map(({ uid }) => uid));
  const byUid = new Map(jobs.map((job) => [job.metadata.uid, job]));
  const events: EventNote[] = [];
  const active: ObjectReference[] = [];
  for (const reference of before.active ?? []) {
    const job = byUid.get(reference.uid);
    const end = job === undefined ? undefined : finalConditionOf(job);
    if (job !== undefined && end === undefined) active.push(reference);
    else events.push(job === undefined ? missing(reference) : completed(job, end?.type ?? ''));
  }
  for (const job of jobs) {
    if (!known.has(job.metadata.uid) && finalConditionOf(job) === undefined) events.push(unexpected(job));
  }
  const successes = jobs
    .filter((job) => finalConditionOf(job)?.type === 'Complete')
    .flatMap(({ status }) => (status?.completionTime === undefined ? [] : [status.completionTime]));
  const lastSuccessfulTime = [before.lastSuccessfulTime ?? '', ...successes].toSorted().at(-1) ?? '';
  const { lastScheduleTime } = before;
  const status = {
    ...(active.length === 0 ? {} : { active }),
    ...(lastScheduleTime === undefined ? {} : { lastScheduleTime }),
    ...(lastSuccessfulTime === '' ? {} : { lastSuccessfulTime }),
  };
  return { status, events };
}

/** Finished jobs beyond the limits of successes and failures. */
function obsoleteJobs({ spec }: CronJob, jobs: readonly Job[]): readonly Job[] {
  const beyond = (type: string, limit: number | undefined) => {
    const finished = jobs.filter((job) => finalConditionOf(job)?.type === type).toSorted(byStart);
    return limit === undefined ? [] : finished.slice(0, Math.max(0, finished.length - limit));
  };
  return [...beyond('Complete', spec?.successfulJobsHistoryLimit), ...beyond('Failed', spec?.failedJobsHistoryLimit)];
}

function byStart(left: Job, right: Job): number {
  const [a, b] = [left.status?.startTime ?? '9999', right.status?.startTime ?? '9999'];
  if (a !== b) return a < b ? -1 : 1;
  return (left.metadata.name ?? '') < (right.metadata.name ?? '') ? -1 : 1;
}

const tooManyMissed: EventNote = {
  type: 'Warning',
  reason: 'TooManyMissedTimes',
  message: 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
};

const alreadyActive: EventNote = {
  type: 'Normal',
  reason: 'JobAlreadyActive',
  message: 'Not starting job because prior execution is running and concurrency policy is Forbid',
};

function missing({ name }: ObjectReference): EventNote {
  return { type: 'Normal', reason: 'MissingJob', message: `Active job went missing: ${name ?? ''}` };
}

function completed({ metadata }: Job, condition: string): EventNote {
  const message = `Saw completed job: ${metadata.name ?? ''}, condition: ${condition}`;
  return { type: 'Normal', reason: 'SawCompletedJob', message };
}

function unexpected({ metadata }: Job): EventNote {
  const message = `Saw a job that the controller did not create or forgot: ${metadata.name ?? ''}`;
  return { type: 'Warning', reason: 'UnexpectedJob', message };
}
