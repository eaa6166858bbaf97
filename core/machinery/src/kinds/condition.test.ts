import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Condition, findCondition, isConditionTrue, setCondition } from './condition.js';

const before: readonly Condition[] = [
  { type: 'Progressing', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' },
  { type: 'Available', status: 'False', reason: 'Waiting', lastTransitionTime: '2026-01-01T00:00:00Z' },
];

test('the time of transition changes with the status only', () => {
  const now = '2026-01-02T00:00:00Z';
  const sameStatus = setCondition(before, { type: 'Available', status: 'False', reason: 'NoQuorum' }, now);
  assert.deepEqual(sameStatus[1], {
    type: 'Available',
    status: 'False',
    reason: 'NoQuorum',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });
  const changed = setCondition(sameStatus, { type: 'Available', status: 'True' }, now);
  assert.deepEqual(changed[1], { type: 'Available', status: 'True', lastTransitionTime: now });
  assert.equal(changed[0], before[0]);
});

test('a new condition comes last, and setting what is set gives the same list', () => {
  const after = setCondition(before, { type: 'Degraded', status: 'False' }, '2026-01-03T00:00:00Z');
  assert.deepEqual(
    after.map((each) => each.type),
    ['Progressing', 'Available', 'Degraded'],
  );
  assert.equal(setCondition(after, { type: 'Degraded', status: 'False' }, '2026-01-04T00:00:00Z'), after);
});

test('conditions are found by their type', () => {
  assert.equal(findCondition(before, 'Available')?.reason, 'Waiting');
  assert.equal(isConditionTrue(before, 'Progressing'), true);
  assert.equal(isConditionTrue(before, 'Available'), false);
  assert.equal(isConditionTrue(undefined, 'Available'), false);
});
