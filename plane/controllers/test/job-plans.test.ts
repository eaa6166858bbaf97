import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Job, JobSpec, Pod } from '@castellan/machinery';
import { noFailures } from '../src/jobs/backoff.js';
import { outcomeOf } from '../src/jobs/job-outcome.js';
import { podOf } from '../src/jobs/job-pod.js';
import { planStatus } from '../src/jobs/job-status.js';
import { JobView } from '../src/jobs/job-view.js';
import { planPods } from '../src/jobs/plan-pods.js';
import { lifeLeftMs } from '../src/jobs/ttl-controller.js';
import { job, jobPod, startMs } from './job-objects.js';

const indexed = { completionMode: 'Indexed', completions: 4, parallelism: 2 } as const;

/** What would be made and deleted: `+` a pod, `+2` one of index 2, `-name` a deletion, `~10000` a wait. */
function moves(of: Job, pods: readonly Pod[], nowMs = startMs): string {
  const view = new JobView(of, pods);
  const { creations, deletions, waitMs } = planPods(view, view.streak(undefined), nowMs);
  return [
    ...creations.map(({ index }) => `+${index ?? ''}`),
    ...deletions.map(({ metadata }) => `-${metadata.name}`),
    ...(waitMs === undefined ? [] : [`~${waitMs}`]),
  ].join(' ');
}

const outcome = (of: Job, pods: readonly Pod[], nowMs = startMs) => outcomeOf(new JobView(of, pods), nowMs)?.reason;

test('JB2 pods are made up to the parallelism, and no more than are left to complete', () => {
  const running = [jobPod('a')];
  assert.equal(moves(job({ completions: 5, parallelism: 3 }), []), '+ + +');
  assert.equal(moves(job({ completions: 5, parallelism: 3 }), running), '+ +');
  assert.equal(moves(job({ completions: 5, parallelism: 3 }, { succeeded: 4 }), running), '');
  assert.equal(moves(job({ completions: 5, parallelism: 0 }), running), '-a');
});

test('JB2 without a number of completions nothing is made after the first success, and what runs may end', () => {
  assert.equal(moves(job({ parallelism: 3 }), []), '+ + +');
  assert.equal(moves(job({ parallelism: 3 }), [jobPod('a', { phase: 'Succeeded' }), jobPod('b')]), '');
});

test('JB2 of too many pods those go first that have come the least far', () => {
  const pods = [jobPod('ready'), jobPod('pending', { phase: 'Pending' })];
  assert.equal(moves(job({ completions: 5, parallelism: 1 }), pods), '-pending');
});

test('JB3 the lowest indexes that are free come first, and no index has two pods', () => {
  assert.equal(moves(job(indexed), []), '+0 +1');
  assert.equal(moves(job(indexed, { completedIndexes: '0,2' }), [jobPod('b', { index: 1 })]), '+3');
  assert.equal(moves(job(indexed), [jobPod('a', { index: 0 }), jobPod('b', { index: 0 })]), '-a');
});

test('JB3 a pod without an index that its Job knows is deleted', () => {
  assert.equal(moves(job(indexed), [jobPod('a'), jobPod('b', { index: 4 }), jobPod('c', { index: 3 })]), '-a -b');
});

test('JB3 a pod is told its index by annotation, label, variable and host name', () => {
  const { metadata, spec } = podOf(job(indexed), { index: 2 });
  assert.equal(metadata.generateName, 'work-2-');
  assert.equal(metadata.annotations?.['batch.kubernetes.io/job-completion-index'], '2');
  assert.equal(metadata.labels?.['batch.kubernetes.io/job-completion-index'], '2');
  assert.equal(spec?.hostname, 'work-2');
  const fieldPath = "metadata.labels['batch.kubernetes.io/job-completion-index']";
  assert.deepEqual(spec?.containers[0]?.env, [
    { name: 'JOB_COMPLETION_INDEX', valueFrom: { fieldRef: { fieldPath } } },
  ]);
});

test('JB4 after failures in a row the next pod waits 10 s, doubling to 10 min; a success ends the row', () => {
  const failed = (count: number) =>
    Array.from({ length: count }, (_, index) => jobPod(`f${index}`, { phase: 'Failed', endedAt: index }));
  const of = job({ completions: 3, backoffLimit: 100 });
  assert.equal(moves(of, failed(1)), '~10000');
  assert.equal(moves(of, failed(3)), '~42000', 'counted from the last of them');
  assert.equal(moves(of, failed(20)), '~619000');
  assert.equal(moves(of, failed(1), startMs + 10_000), '+');
  assert.equal(moves(of, [...failed(3), jobPod('s', { phase: 'Succeeded', endedAt: 9 })]), '+');
});

test('JB4 with a limit by index each index waits for itself, and the next pod carries its count on', () => {
  const of = job({ ...indexed, parallelism: 4, backoffLimitPerIndex: 3 });
  const first = jobPod('a', { phase: 'Failed', index: 1, failures: 1 });
  assert.equal(moves(of, [first]), '+0 +2 +3 ~20000');
  assert.equal(moves(of, [first], startMs + 20_000), '+0 +1 +2 +3');
  const { metadata } = podOf(of, { index: 1, replaces: first });
  assert.equal(metadata.annotations?.['batch.kubernetes.io/job-index-failure-count'], '2');
});

test('JB5 a Job fails when its pods failed too often, its containers restarted too often, or its time is over', () => {
  const failures = [jobPod('a', { phase: 'Failed' }), jobPod('b', { phase: 'Failed' })];
  assert.equal(outcome(job({ backoffLimit: 2 }), failures), undefined);
  assert.equal(outcome(job({ backoffLimit: 1 }), failures), 'BackoffLimitExceeded');
  const template = { spec: { restartPolicy: 'OnFailure', containers: [{ name: 'c' }] } };
  assert.equal(outcome(job({ backoffLimit: 2, template }), [jobPod('a', { restarts: 1 })]), undefined);
  assert.equal(outcome(job({ backoffLimit: 2, template }), [jobPod('a', { restarts: 2 })]), 'BackoffLimitExceeded');
  const timed = (spec: Partial<JobSpec>) =>
    job({ activeDeadlineSeconds: 5, ...spec }, { startTime: '2026-01-01T00:00:00Z' });
  assert.equal(outcome(timed({}), [], startMs + 4_999), undefined);
  assert.equal(outcome(timed({}), [], startMs + 5_000), 'DeadlineExceeded');
  assert.equal(outcome(timed({ suspend: true }), [], startMs + 5_000), undefined);
});

test('JB5 an index fails by its own limit, and the Job when all are over or too many have failed', () => {
  const of = (spec: Partial<JobSpec>) =>
    job({ ...indexed, backoffLimit: 100, backoffLimitPerIndex: 0, ...spec }, { completedIndexes: '2,3' });
  const failed = [0, 1].map((index) => jobPod(`f${index}`, { phase: 'Failed', index, failures: 0 }));
  assert.equal(outcome(of({}), failed.slice(0, 1)), undefined);
  assert.equal(moves(of({}), failed.slice(0, 1)), '+1');
  assert.equal(outcome(of({}), failed), 'FailedIndexes');
  assert.equal(outcome(of({ maxFailedIndexes: 1 }), failed), 'MaxFailedIndexesExceeded');
});

test('JB6 the first rule of the failure policy that fits says what a failure means', () => {
  const policy = (action: string, more = {}) => ({
    backoffLimit: 0,
    podFailurePolicy: {
      rules: [
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
        { action, onExitCodes: { containerName: 'c', operator: 'In', values: [42] } },
      ],
    },
    ...more,
  });
  const exit = (exitCode: number, facts = {}) => [jobPod('a', { phase: 'Failed', exitCode, index: 0, ...facts })];
  assert.equal(outcome(job(policy('FailJob')), exit(42)), 'PodFailurePolicy');
  assert.equal(outcome(job(policy('FailJob')), exit(42, { condition: 'DisruptionTarget' })), undefined);
  assert.equal(outcome(job(policy('FailJob')), exit(41)), 'BackoffLimitExceeded');
  assert.equal(outcome(job(policy('Ignore')), exit(42)), undefined);
  assert.equal(outcome(job(policy('Count')), exit(42)), 'BackoffLimitExceeded');
  const byIndex = job(policy('FailIndex', { ...indexed, completions: 2, backoffLimit: 9, backoffLimitPerIndex: 5 }));
  assert.equal(new JobView(byIndex, exit(42)).failedIndexes?.toString(), '0');
  assert.equal(new JobView(byIndex, exit(41)).failedIndexes?.toString(), '');
});

test('JB6 the message of FailJob names container, pod, exit code and rule', () => {
  const rules = [{ action: 'FailJob', onExitCodes: { operator: 'NotIn', values: [1] } }];
  const view = new JobView(job({ podFailurePolicy: { rules } }), [jobPod('a', { phase: 'Failed', exitCode: 3 })]);
  const message = 'Container c for pod default/a failed with exit code 3 matching FailJob rule at index 0';
  assert.equal(outcomeOf(view, startMs)?.message, message);
});

test('JB6 a success policy is fulfilled by its indexes, by their number, or by both', () => {
  const by = (rule: object) => job({ ...indexed, successPolicy: { rules: [rule] } }, { completedIndexes: '1,2' });
  assert.equal(outcome(by({ succeededIndexes: '1,2' }), []), 'SuccessPolicy');
  assert.equal(outcome(by({ succeededIndexes: '0-2' }), []), undefined);
  assert.equal(outcome(by({ succeededIndexes: '0-2', succeededCount: 2 }), []), 'SuccessPolicy');
  assert.equal(outcome(by({ succeededCount: 3 }), []), undefined);
});

test('JB6 a pod that is being deleted is replaced at once, or when it has ended where the policy says Failed', () => {
  const going = [jobPod('a', { isDeleted: true })];
  assert.equal(moves(job({ completions: 1 }), going, startMs + 10_000), '+');
  assert.equal(moves(job({ completions: 1, podReplacementPolicy: 'Failed' }), going, startMs + 10_000), '');
});

test('JB7 how a Job ends is told first, and finally when nothing is left to count or to end', () => {
  const done = [jobPod('a', { phase: 'Succeeded' })];
  const types = (of: Job, pods: readonly Pod[]) => {
    const view = new JobView(of, pods);
    const { status, events } = planStatus(view, outcomeOf(view, startMs), startMs);
    return { of: { ...of, status }, types: status.conditions?.map(({ type }) => type), events };
  };
  const first = types(job({ completions: 1 }), done);
  assert.deepEqual(first.types, ['SuccessCriteriaMet']);
  assert.deepEqual(first.of.status.uncountedTerminatedPods, { succeeded: ['uid-a'] });
  assert.deepEqual(types(first.of, done).types, ['SuccessCriteriaMet'], 'the pod is not counted yet');
  const counted = [jobPod('a', { phase: 'Succeeded', isCounted: true })];
  assert.deepEqual(
    types(first.of, [...counted, jobPod('b', { isDeleted: true, isCounted: true })]).types,
    ['SuccessCriteriaMet'],
    'a pod has not ended yet',
  );
  const last = types(first.of, counted);
  assert.deepEqual(last.types, ['SuccessCriteriaMet', 'Complete']);
  assert.equal(last.of.status.succeeded, 1);
  assert.equal(last.of.status.completionTime, '2026-01-01T00:00:00Z');
  assert.deepEqual(last.events, [{ type: 'Normal', reason: 'Completed', message: 'Job completed' }]);
});

test('JB8 a suspended Job has no pods and no time runs; its start is that of its resumption', () => {
  const running = [jobPod('a')];
  assert.equal(moves(job({ suspend: true }), running), '-a');
  const suspended = planStatus(new JobView(job({ suspend: true }), []), undefined, startMs).status;
  assert.equal(suspended.startTime, undefined);
  assert.deepEqual(
    suspended.conditions?.map(({ type, status, reason }) => [type, status, reason]),
    [['Suspended', 'True', 'JobSuspended']],
  );
  const resumed = planStatus(new JobView(job({}, suspended), []), undefined, startMs + 60_000);
  assert.equal(resumed.status.startTime, '2026-01-01T00:01:00Z');
  assert.deepEqual(resumed.events, [{ type: 'Normal', reason: 'Resumed', message: 'Job resumed' }]);
});

test('JB9 a finished Job lives for its ttlSecondsAfterFinished, and for ever without', () => {
  const conditions = [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:10Z' }];
  assert.equal(lifeLeftMs(job({ ttlSecondsAfterFinished: 30 }, { conditions }), startMs), 40_000);
  assert.equal(lifeLeftMs(job({}, { conditions }), startMs), undefined);
  assert.equal(lifeLeftMs(job({ ttlSecondsAfterFinished: 30 }), startMs), undefined);
});

test('JB2 nothing is made twice: a plan carried out leaves nothing to do', () => {
  const of = job({ ...indexed });
  const view = new JobView(of, []);
  const made = planPods(view, noFailures, startMs).creations.map(({ index = 0 }) => jobPod(`p${index}`, { index }));
  assert.equal(moves(of, made), '');
});
