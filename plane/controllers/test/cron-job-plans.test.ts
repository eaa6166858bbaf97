import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CronJob, cronJobs, type Job, jobs } from '@castellan/machinery';
import { cronJobController } from '../src/cron-jobs/cron-job-controller.js';
import { planCronJob } from '../src/cron-jobs/plan-cron-job.js';
import { Bench } from './bench.js';

type Spec = NonNullable<CronJob['spec']>;

const key = { namespace: 'default', name: 'backup' };
const template = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c' }] } } } };

function cronJob(spec: Partial<Spec> = {}, status: CronJob['status'] = {}): CronJob {
  return {
    metadata: { ...key, uid: 'uid-backup', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { schedule: '*/10 * * * *', jobTemplate: template, ...spec },
    ...(status === undefined ? {} : { status }),
  };
}

/** `end`: when it started and ended. */
function job(name: string, end?: 'Complete' | 'Failed', at = '2026-01-01T00:00:00Z'): Job {
  const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'backup', uid: 'uid-backup', controller: true };
  const conditions = end === undefined ? [] : [{ type: end, status: 'True' }];
  return {
    metadata: { namespace: 'default', name, uid: `uid-${name}`, ownerReferences: [owner] },
    status: { startTime: at, conditions, ...(end === 'Complete' ? { completionTime: at } : {}) },
  };
}

const active = (...names: readonly string[]) => names.map((name) => ({ kind: 'Job', name, uid: `uid-${name}` }));
const at = (time: string) => Date.parse(`2026-01-01T${time}Z`);
const reasons = (plan: ReturnType<typeof planCronJob>) => plan.events.map(({ reason }) => reason);

test('CJ1 a job is named for the minute that was due, and told that time in the time zone', () => {
  const plan = planCronJob(cronJob({ timeZone: 'Europe/Berlin' }), [], at('00:10:00'));
  assert.equal(plan.run?.jobName, 'backup-29453770');
  assert.equal(plan.run?.scheduled, '2026-01-01T01:10:00+01:00');
  assert.equal(plan.waitMs, 600_100);
});

test('CJ1 before its time nothing runs, and what ran is not run again', () => {
  const early = planCronJob(cronJob(), [], at('00:09:59'));
  assert.deepEqual([early.run, early.waitMs], [undefined, 1_100]);
  const ran = planCronJob(cronJob({}, { lastScheduleTime: '2026-01-01T00:10:00Z' }), [], at('00:19:00'));
  assert.deepEqual([ran.run, ran.waitMs], [undefined, 60_100]);
});

test('CJ1 a pass that stopped before it told of its job finds that job, and another of that name is left alone', async () => {
  for (const uid of ['uid-backup', 'uid-of-another']) {
    const bench = new Bench(cronJobController());
    for (const type of [cronJobs, jobs]) bench.server.serve(type);
    await bench.server.add(cronJobs, cronJob());
    await bench.world.advance(Math.max(0, at('00:10:00') - bench.world.clock.now()));
    const owner = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'backup', uid, controller: true };
    const made = job('backup-29453770');
    await bench.server.add(jobs, { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } });
    await bench.reconcile(key);
    const { status } = await bench.server.get(cronJobs, key);
    const told = status?.active?.map(({ name }) => name);
    assert.deepEqual(told, uid === 'uid-backup' ? ['backup-29453770'] : undefined);
    assert.equal((await bench.server.list(jobs)).items.length, 1);
  }
});

test('CJ2 of many missed times the last one runs; more than a hundred are told', () => {
  const late = planCronJob(cronJob({ schedule: '* * * * *' }), [], at('03:00:30'));
  assert.equal(late.run?.scheduled, '2026-01-01T03:00:00Z');
  assert.deepEqual(reasons(late), ['TooManyMissedTimes']);
  const few = planCronJob(cronJob({ schedule: '0 1,2,9 * * *' }), [], at('08:00:00'));
  assert.equal(few.run?.scheduled, '2026-01-01T02:00:00Z');
  assert.deepEqual(reasons(few), []);
});

test('CJ2 a CronJob that waited for ten years is planned as fast as any other', () => {
  const old = cronJob({ schedule: '@every 7s' }, { lastScheduleTime: '2016-01-01T00:00:00Z' });
  const plan = planCronJob(old, [], at('00:00:00'));
  assert.equal(plan.run?.scheduled, '2025-12-31T23:59:59Z');
});

test('CJ3 what is later than startingDeadlineSeconds is not begun any more', () => {
  const of = (startingDeadlineSeconds: number) => cronJob({ startingDeadlineSeconds });
  assert.equal(planCronJob(of(60), [], at('00:11:00')).run?.scheduled, '2026-01-01T00:10:00Z');
  const missed = planCronJob(of(59), [], at('00:11:00'));
  assert.equal(missed.run, undefined);
  assert.deepEqual(missed.events, [
    {
      type: 'Warning',
      reason: 'MissSchedule',
      message: 'Missed scheduled time to start a job: Thu, 01 Jan 2026 00:10:00 +0000',
    },
  ]);
});

test('CJ4 while a job runs, Allow makes another, Forbid none, and Replace one in its place', () => {
  const status = { active: active('old') };
  const plan = (concurrencyPolicy: string) =>
    planCronJob(cronJob({ concurrencyPolicy }, status), [job('old')], at('00:10:00'));
  assert.deepEqual(plan('Allow').run?.replaces, []);
  assert.equal(plan('Forbid').run, undefined);
  assert.deepEqual(reasons(plan('Forbid')), ['JobAlreadyActive']);
  assert.deepEqual(
    plan('Replace').run?.replaces.map(({ metadata }) => metadata.name),
    ['old'],
  );
});

test('CJ5 the status lists the jobs that run, and when the last one succeeded', () => {
  const before = { active: active('a', 'b', 'c'), lastScheduleTime: '2026-01-01T00:00:00Z' };
  const all = [job('a'), job('b', 'Complete', '2026-01-01T00:01:00Z'), job('manual')];
  const plan = planCronJob(cronJob({}, before), all, at('00:02:00'));
  assert.deepEqual(plan.status, {
    active: active('a'),
    lastScheduleTime: '2026-01-01T00:00:00Z',
    lastSuccessfulTime: '2026-01-01T00:01:00Z',
  });
  assert.deepEqual(
    plan.events.map(({ message }) => message),
    [
      'Saw completed job: b, condition: Complete',
      'Active job went missing: c',
      'Saw a job that the controller did not create or forgot: manual',
    ],
  );
});

test('CJ6 of the jobs that ended, the oldest beyond the limits go', () => {
  const ended = [3, 1, 2].map((minute) => job(`ok-${minute}`, 'Complete', `2026-01-01T00:0${minute}:00Z`));
  const failed = [4, 5].map((minute) => job(`bad-${minute}`, 'Failed', `2026-01-01T00:0${minute}:00Z`));
  const limits = { successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 };
  const plan = planCronJob(cronJob(limits), [...ended, ...failed, job('running')], at('00:06:00'));
  assert.deepEqual(
    plan.obsolete.map(({ metadata }) => metadata.name),
    ['ok-1', 'ok-2', 'bad-4'],
  );
});

test('CJ7 suspended, on its way out, or with a schedule or zone that cannot be read, it makes nothing', () => {
  const plan = (of: CronJob) => planCronJob(of, [], at('00:10:00'));
  assert.deepEqual(
    [plan(cronJob({ suspend: true })).run, plan(cronJob({ suspend: true })).waitMs],
    [undefined, undefined],
  );
  const going = { ...cronJob().metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
  assert.equal(plan({ ...cronJob(), metadata: going }).run, undefined);
  assert.deepEqual(reasons(plan(cronJob({ schedule: 'often' }))), ['UnparseableSchedule']);
  assert.deepEqual(reasons(plan(cronJob({ timeZone: 'Mars/Olympus' }))), ['UnknownTimeZone']);
});
