import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, ReplicaSet } from '@castellan/machinery';
import { inDeletionOrder } from '../src/replica-sets/deletion-order.js';
import { planReplicas } from '../src/replica-sets/plan-replicas.js';
import { replicaSetStatus } from '../src/replica-sets/replica-set-status.js';
import { nextAvailableInMs } from '../src/workloads/pod-state.js';
import { slowStart } from '../src/workloads/slow-start.js';

const nowMs = Date.parse('2026-01-01T01:00:00Z');
const noon = '2026-01-01T00:59:00Z';

interface PodFields {
  readonly node?: string;
  readonly phase?: string;
  readonly readyAt?: string;
  readonly createdAt?: string;
  readonly cost?: string;
  readonly restarts?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly isDeleted?: boolean;
}

function pod(name: string, fields: PodFields = {}): Pod {
  const { node = 'n1', phase = 'Running', readyAt, createdAt = noon, cost, restarts = 0, labels, isDeleted } = fields;
  const ready = { type: 'Ready', status: 'True', ...(readyAt === '' ? {} : { lastTransitionTime: readyAt ?? noon }) };
  return {
    metadata: {
      name,
      uid: name,
      creationTimestamp: createdAt,
      ...(labels === undefined ? {} : { labels }),
      ...(cost === undefined ? {} : { annotations: { 'controller.kubernetes.io/pod-deletion-cost': cost } }),
      ...(isDeleted === true && { deletionTimestamp: noon }),
    },
    spec: { containers: [], ...(node === '' ? {} : { nodeName: node }) },
    status: {
      phase,
      ...(readyAt === undefined ? {} : { conditions: [ready] }),
      containerStatuses: [{ name: 'c', image: '', imageID: '', ready: true, restartCount: restarts }],
    },
  } as Pod;
}

function replicaSet(replicas: number, more: Partial<ReplicaSet['spec']> = {}): ReplicaSet {
  const template = { metadata: { labels: { app: 'web', tier: 'front' } } };
  return {
    metadata: { name: 'web', uid: 'web', generation: 4 },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template, ...more },
  };
}

const goesFirst: readonly (readonly [string, PodFields, PodFields])[] = [
  ['without a node', { node: '', cost: '9' }, { node: 'n1' }],
  ['pending', { phase: 'Pending' }, { phase: 'Running' }],
  ['not ready', {}, { readyAt: noon }],
  ['of lower deletion cost', { cost: '-1', createdAt: '2025-01-01T00:00:00Z' }, {}],
  ['with more neighbours', { node: 'n2', createdAt: '2025-01-01T00:00:00Z' }, {}],
  ['ready since a time that is not known', { readyAt: '' }, { readyAt: noon }],
  ['ready for half as long', { readyAt: noon }, { readyAt: '2026-01-01T00:00:00Z' }],
  ['restarted more often', { restarts: 2, createdAt: '2025-01-01T00:00:00Z' }, { restarts: 1 }],
  ['younger', {}, { createdAt: '2026-01-01T00:00:00Z' }],
];

for (const [what, first, second] of goesFirst) {
  test(`RS4: of two pods the one ${what} goes first`, () => {
    const related = [pod('x', { node: 'n2' }), pod('y', { node: 'n2' }), pod('z', { node: 'n1' })];
    const [a, b] = [pod('z-first', first), pod('a-second', second)];
    assert.deepEqual(namesOf(inDeletionOrder([b, a], related, nowMs)), ['z-first', 'a-second']);
    assert.deepEqual(namesOf(inDeletionOrder([a, b], related, nowMs)), ['z-first', 'a-second']);
  });
}

test('RS4: pods of about the same age go by uid, and a cost that is no number is none', () => {
  const one = pod('a', { createdAt: '2026-01-01T00:58:40Z', cost: '+5' });
  const other = pod('b', { createdAt: '2026-01-01T00:58:30Z', cost: 'low' });
  assert.deepEqual(namesOf(inDeletionOrder([other, one], [], nowMs)), ['a', 'b']);
});

test('RS1: pods that ended or are to end do not count: others are made in their place', () => {
  const pods = [
    pod('a'),
    pod('b', { phase: 'Failed' }),
    pod('c', { phase: 'Succeeded' }),
    pod('d', { isDeleted: true }),
  ];
  assert.deepEqual(planReplicas(replicaSet(3), pods, pods, nowMs), { create: 2, delete: [] });
});

test('RS1: what is too much is deleted, 500 at most at once, and as many are made at most', () => {
  const many = Array.from({ length: 700 }, (_, index) => pod(`p${index}`));
  assert.equal(planReplicas(replicaSet(0), many, many, nowMs).delete.length, 500);
  assert.equal(planReplicas(replicaSet(1_000), [], [], nowMs).create, 500);
});

test('RS6: one that is being deleted makes and deletes nothing', () => {
  const leaving = { ...replicaSet(3), metadata: { name: 'web', deletionTimestamp: noon } };
  assert.deepEqual(planReplicas(leaving, [pod('a')], [], nowMs), { create: 0, delete: [] });
});

test('RS7: the status counts pods with the labels of the template, ready, available and terminating ones', () => {
  const labels = { app: 'web', tier: 'front' };
  const pods = [
    pod('a', { readyAt: noon, labels }),
    pod('b', { readyAt: '2026-01-01T00:59:55Z', labels: { app: 'web' } }),
    pod('c', { labels }),
    pod('d', { isDeleted: true, readyAt: noon, labels }),
    pod('e', { phase: 'Failed', labels }),
  ];
  const set = replicaSet(3, { minReadySeconds: 10 });
  assert.deepEqual(replicaSetStatus(set, pods, undefined, nowMs), {
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 4,
  });
  assert.equal(nextAvailableInMs(pods, 10, nowMs), 5_000);
  assert.deepEqual(replicaSetStatus(replicaSet(0), [], undefined, nowMs), {
    replicas: 0,
    terminatingReplicas: 0,
    observedGeneration: 4,
  });
});

test('RS8: the first failure stays in the status until a pass succeeds', () => {
  const failure = { reason: 'FailedCreate', message: 'quota' } as const;
  const first = replicaSetStatus(replicaSet(1), [], failure, nowMs);
  const condition = { type: 'ReplicaFailure', status: 'True', lastTransitionTime: '2026-01-01T01:00:00Z', ...failure };
  assert.deepEqual(first.conditions, [condition]);
  const failed = { ...replicaSet(1), status: first };
  assert.deepEqual(replicaSetStatus(failed, [], { ...failure, message: 'other' }, nowMs + 9_000), first);
  assert.equal(replicaSetStatus(failed, [], undefined, nowMs).conditions, undefined);
});

test('RS3: work starts slowly, and ends with the batch in which one failed', async () => {
  const batches: number[][] = [];
  let batch: number[] = [];
  const work = async (item: number) => {
    if (batch.push(item) === 1) batches.push(batch);
    await Promise.resolve();
    batch = [];
    if (item === 5) throw new Error('refused');
  };
  assert.equal(await slowStart([0, 1, 2, 3], work), undefined);
  assert.deepEqual(batches, [[0], [1, 2], [3]]);
  batches.length = 0;
  assert.equal(String(await slowStart([0, 1, 2, 3, 4, 5, 6, 7, 8], work)), 'Error: refused');
  assert.deepEqual(batches, [[0], [1, 2], [3, 4, 5, 6]]);
});

function namesOf(pods: readonly Pod[]) {
  return pods.map(({ metadata }) => metadata.name);
}
