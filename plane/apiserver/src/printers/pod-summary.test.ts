import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asApiObject } from '../json.js';
import { podSummary } from './pod-summary.js';

const containers = [{ name: 'c' }];

test('while init containers hold a pod, their restarts are counted', () => {
  const pod = asApiObject({
    spec: { containers, initContainers: [{ name: 'i1' }, { name: 'i2' }] },
    status: {
      phase: 'Pending',
      initContainerStatuses: [
        { name: 'i1', restartCount: 1, state: { terminated: { exitCode: 1, reason: 'Error' } } },
        { name: 'i2', restartCount: 0, state: { waiting: { reason: 'PodInitializing' } } },
      ],
    },
  });
  assert.deepEqual(podSummary(pod), { reason: 'Init:Error', running: 0, total: 1, restarts: 1, lastRestart: '' });
});

test('a container that started beside the others counts as one of them', () => {
  const running = { ready: true, restartCount: 2, state: { running: {} } };
  const pod = asApiObject({
    spec: { containers, initContainers: [{ name: 's', restartPolicy: 'Always' }] },
    status: {
      phase: 'Running',
      initContainerStatuses: [{ name: 's', started: true, ...running }],
      containerStatuses: [{ name: 'c', ...running }],
    },
  });
  assert.deepEqual(podSummary(pod), { reason: 'Running', running: 2, total: 2, restarts: 4, lastRestart: '' });
});

test('a pod behind a gate says so', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }];
  const pod = asApiObject({ spec: { containers }, status: { phase: 'Pending', conditions } });
  assert.equal(podSummary(pod).reason, 'SchedulingGated');
});
