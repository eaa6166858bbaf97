import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CheckName, checkOperator } from '@castellan/testkit';
import { cronJobChecks } from './simulation/cron-job-checks.js';
import { disruptionChecks } from './simulation/disruption-checks.js';
import { finishedJobChecks } from './simulation/finished-job-checks.js';
import { endingJob, growingJob } from './simulation/job-checks.js';
import { lostPodChecks } from './simulation/lost-pod-checks.js';
import { quotaChecks } from './simulation/quota-checks.js';
import { taintChecks } from './simulation/taint-checks.js';
import { tokenSecretChecks } from './simulation/token-secret-checks.js';

// A point of each check; `npm run sim -- --checks` tries them all.

/** Where what has run has run, there is no way back. */
const oneWay: readonly CheckName[] = ['crash at a write', 'event missed'];

test('the Job controller passes the checks for any operator, at points spread over a Job that grows', async () => {
  const report = await checkOperator(growingJob, { atMost: 1 });
  assert.deepEqual(report.failures, [], String(report));
});

test('a Job that ends counts each pod once, wherever the controllers are killed or behind', async () => {
  const report = await checkOperator(endingJob, { checks: oneWay, atMost: 1 });
  assert.deepEqual(report.failures, [], String(report));
});

test('the CronJob controller passes the checks for any operator, at points spread over a run', async () => {
  const report = await checkOperator(cronJobChecks, { checks: oneWay, atMost: 1 });
  assert.deepEqual(report.failures, [], String(report));
});

test('the disruption controller passes the checks for any operator, at points spread over a budget that is made tighter', async () => {
  const report = await checkOperator(disruptionChecks, {
    checks: ['crash at a write', 'specs in sequence'],
    atMost: 1,
  });
  assert.deepEqual(report.failures, [], String(report));
});

for (const scenario of [quotaChecks, lostPodChecks, tokenSecretChecks, finishedJobChecks, taintChecks]) {
  test(`the controller of ${scenario.name} passes the checks for any operator, at points spread over its story`, async () => {
    const report = await checkOperator(scenario, { checks: oneWay, atMost: 1 });
    assert.deepEqual(report.failures, [], String(report));
  });
}
