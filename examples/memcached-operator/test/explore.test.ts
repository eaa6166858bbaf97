import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planner } from '../src/operator.js';

test('from every start, with two faults and old observations, M1 holds and all settles', () => {
  const found = planner.explore({ bound: 3, faults: 2 });
  const traces = found.violations.map(({ rule, message, trace }) => `${rule}: ${message}\n${trace}`);
  assert.deepEqual(traces, []);
  assert.ok(found.isComplete && found.states > 1_000, `${found.states} states`);
});

test('a forecast says what will be done, before it is', () => {
  const { entries, end } = planner.forecast({ size: 2 });
  assert.deepEqual(
    entries.map(({ reason }) => reason),
    ['0 pods, 2 wanted', '1 pods, 2 wanted'],
  );
  assert.equal(end.reason, '2 pods serve');
});
