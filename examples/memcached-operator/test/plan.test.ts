import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PodView, plan } from '../src/plan.js';

const pod = (index: number, fields: Partial<PodView> = {}): PodView => {
  return { index, phase: 'ready', isCurrent: true, ...fields };
};

test('with nothing there the first pod is made', () => {
  assert.deepEqual(plan({ size: 3 }, { pods: [] }), {
    kind: 'step',
    step: { kind: 'create', index: 0 },
    reason: '0 pods, 3 wanted',
  });
});

test('a new image replaces one pod, and the next one only when that one serves', () => {
  const pods = [pod(0, { isCurrent: false }), pod(1, { isCurrent: false })];
  const first = plan({ size: 2 }, { pods });
  assert.deepEqual(first.kind === 'step' && first.step, { kind: 'delete', index: 0 });
  const second = plan({ size: 2 }, { pods: [pod(0, { phase: 'starting' }), pod(1, { isCurrent: false })] });
  assert.deepEqual([second.kind, second.reason], ['wait', '1 of 2 pods are ready']);
});
