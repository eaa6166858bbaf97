import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOperator } from '@castellan/testkit';
import { workloadChecks } from './simulation/workload-checks.js';

for (const scenario of workloadChecks) {
  test(`RS9, DS5, ST12: the controller of ${scenario.name} passes the checks for any controller, at points spread over its story`, async () => {
    const replay = ({ check, point }: { readonly check: string; readonly point: string }) =>
      `npm run sim -- --scenario ${scenario.name} --check '${check}' --point '${point}'`;
    const report = await checkOperator(scenario, { atMost: 2, replay });
    assert.deepEqual(report.failures, [], String(report));
  });
}
