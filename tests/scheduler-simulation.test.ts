import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOperator } from '@castellan/testkit';
import { schedulerChecks } from './simulation/scheduler-checks.js';

test('S6, S11: wherever the scheduler is killed or behind, the urgent pod runs and no node has two that do not fit', async () => {
  const report = await checkOperator(schedulerChecks, { atMost: 1 });
  assert.deepEqual(report.failures, [], String(report));
});
