import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOperator } from '@castellan/testkit';
import { volumeChecks } from './simulation/volume-checks.js';

// The plane's part is in the checks of StatefulSets; `npm run sim -- --scenario volumes-plane --checks` has all of it.
const scenario = volumeChecks('nodes');

test('PV4: nodes that stop at a write, or read what is old, make no volume twice and leave none behind', async () => {
  const replay = ({ check, point }: { readonly check: string; readonly point: string }) =>
    `npm run sim -- --scenario ${scenario.name} --check '${check}' --point '${point}'`;
  const report = await checkOperator(scenario, { atMost: 1, replay });
  assert.deepEqual(report.failures, [], String(report));
});
