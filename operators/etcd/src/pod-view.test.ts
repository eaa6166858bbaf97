import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, Pod } from '@castellan/machinery';
import { endpointOf, viewPod } from './pod-view.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');

function pod(status: Pod['status'], metadata: Partial<Pod['metadata']> = {}): Pod {
  return { metadata: { name: 'a', uid: 'u', ...metadata }, ...(status && { status }) };
}

function etcd(state: ContainerStatus['state'], changes: Partial<ContainerStatus> = {}): Pod['status'] {
  const container = { name: 'etcd', image: '', imageID: '', ready: false, restartCount: 0, ...changes };
  return { phase: 'Running', podIP: '10.0.0.7', containerStatuses: [{ ...container, ...(state && { state }) }] };
}

const ended = (startedAt: string, finishedAt: string, reason = 'Error') => ({
  terminated: {
    exitCode: 2,
    reason,
    startedAt: `2026-01-01T11:${startedAt}Z`,
    finishedAt: `2026-01-01T11:${finishedAt}Z`,
  },
});

function judged(status: Pod['status'], metadata: Partial<Pod['metadata']> = {}): readonly [string, string] {
  const { phase, note } = viewPod(pod(status, metadata), 0, nowMs);
  return [phase, note];
}

test('a running container is a running member, and can be asked', () => {
  const running = etcd({ running: {} });
  assert.equal(judged(running)[0], 'running');
  assert.equal(endpointOf(pod(running), 2379), 'http://10.0.0.7:2379');
  assert.equal(endpointOf(pod({ ...running, podIP: 'fd00::7' }), 2379), 'http://[fd00::7]:2379');
  assert.equal(endpointOf(pod(etcd({ waiting: {} })), 2379), undefined);
});

test('a pod that is being set up says at what', () => {
  assert.deepEqual(judged(undefined), ['starting', 'its pod is being set up']);
  const unscheduled = { conditions: [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }] };
  assert.deepEqual(judged(unscheduled), ['starting', 'no node for its pod (0/1 nodes are available)']);
  const init = { name: 'check-dns', image: '', imageID: '', ready: false, restartCount: 0, state: { running: {} } };
  assert.deepEqual(judged({ initContainerStatuses: [init] }), ['starting', "check-dns waits for the pod's DNS name"]);
  const pulling = etcd({ waiting: { reason: 'ErrImagePull', message: 'no such image' } });
  assert.deepEqual(judged(pulling), ['starting', 'ErrImagePull: no such image']);
});

test('a pod that is not ready says why in the words of its condition', () => {
  const view = (status: Pod['status']) => viewPod(pod(status), 0, nowMs);
  const condition = { type: 'Ready', status: 'False', reason: 'ContainersNotReady', message: 'unready: [etcd]' };
  const unready = view({ ...etcd({ running: {} }), conditions: [condition] });
  assert.deepEqual([unready.isReady, unready.unreadyNote], [false, 'ContainersNotReady: unready: [etcd]']);
  assert.equal(view(etcd({ running: {} })).unreadyNote, 'nothing is known of its readiness yet');
  const ready = view({ ...etcd({ running: {} }), conditions: [{ type: 'Ready', status: 'True' }] });
  assert.deepEqual([ready.isReady, ready.unreadyNote], [true, undefined]);
});

test('a container that crashed once is coming back with its data', () => {
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
  const [phase, note] = judged(etcd(waiting, { restartCount: 1, lastState: ended('59:00', '59:01') }));
  assert.deepEqual([phase, note], ['starting', 'etcd is restarted (CrashLoopBackOff, exit code 2)']);
});

test('a container that exits as soon as it starts, again and again, will not come back', () => {
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
  const [phase, note] = judged(etcd(waiting, { restartCount: 3, lastState: ended('59:00', '59:01') }));
  assert.deepEqual([phase, note], ['dead', 'etcd exits as soon as it starts (3 restarts, exit code 2)']);
});

test('restarts long apart, and those for want of memory, are no reason to give a member up', () => {
  const waiting = { waiting: { reason: 'CrashLoopBackOff' } };
  assert.equal(judged(etcd(waiting, { restartCount: 9, lastState: ended('10:00', '59:00') }))[0], 'starting');
  const starved = ended('59:00', '59:01', 'OOMKilled');
  assert.equal(judged(etcd(waiting, { restartCount: 9, lastState: starved }))[0], 'starting');
});

test('a pod that ended is dead, as is one that should long have been gone', () => {
  assert.deepEqual(judged({ phase: 'Failed', reason: 'Evicted' }), ['dead', 'its pod ended (Failed, Evicted)']);
  const running = etcd({ running: {} });
  assert.equal(judged(running, { deletionTimestamp: '2026-01-01T11:59:55Z' })[0], 'terminating');
  assert.deepEqual(judged(running, { deletionTimestamp: '2026-01-01T11:59:00Z' }), [
    'dead',
    'its pod should have been gone 60 s ago',
  ]);
});

test('what a container starts as is what its annotation says now', () => {
  const annotations = { 'etcd.database.coreos.com/initial-cluster-state': 'new' };
  assert.equal(viewPod(pod(undefined, { annotations }), 0, nowMs).initialState, 'new');
  assert.equal(viewPod(pod(undefined), 0, nowMs).initialState, 'existing');
});

test('only an etcd that was started again, and has run for a while since, is overdue', () => {
  const isOverdue = (restartCount: number, startedAt: string) => {
    const running = etcd({ running: { startedAt: `2026-01-01T11:${startedAt}Z` } }, { restartCount });
    return viewPod(pod(running), 0, nowMs).isOverdue;
  };
  assert.equal(isOverdue(0, '50:00'), false);
  assert.equal(isOverdue(1, '59:50'), false);
  assert.equal(isOverdue(1, '59:40'), true);
  assert.equal(viewPod(pod(etcd({ waiting: {} }, { restartCount: 3 })), 0, nowMs).isOverdue, false);
});
