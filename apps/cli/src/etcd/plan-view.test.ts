import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulatedWorld } from '@castellan/world';
import { describePlan, planFor } from './plan-view.js';

const world = simulatedWorld(1);

function cluster(size: number) {
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    metadata: { name: 'a' },
    spec: { size },
  };
}

test('each step of a plan is a numbered line with its reason below it, and what is waited for after it', async () => {
  const lines = describePlan(await planFor(cluster(2), world));
  assert.match(lines[0] ?? '', /^ {2}1\. create the headless service/);
  assert.match(lines[1] ?? '', /^ {5}because /);
  assert.ok(lines.some((line) => line.startsWith('     then waits: ')));
  assert.match(lines.at(-1) ?? '', /^then it is settled: 2 members/);
});

test('a plan that needs a person ends with why and what to do', async () => {
  const lines = describePlan(await planFor(cluster(9), world));
  assert.match(lines.at(-2) ?? '', /^blocked: spec\.size is 9/);
  assert.match(lines.at(-1) ?? '', /^what to do: .*1 to 7/);
});

test('a plan with no steps says that there is nothing to do', () => {
  assert.deepEqual(describePlan({ steps: [], end: { kind: 'settled', reason: '3 members' } }), [
    'nothing to do: 3 members',
  ]);
});
