import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolume, PersistentVolumeClaim } from '@castellan/machinery';
import { type ExpansionPlan, planExpansion } from './expansion-plan.js';

const now = '2026-01-01T00:00:00Z';
const gibibyte = 2 ** 30;
const atRest = { phase: 'Bound', capacity: { storage: '1Gi' } };

function planFor(storage: string, status: PersistentVolumeClaim['status'], size = '1Gi'): ExpansionPlan {
  const claim: PersistentVolumeClaim = {
    metadata: { name: 'data' },
    spec: { resources: { requests: { storage } } },
    ...(status === undefined ? {} : { status }),
  };
  const volume: PersistentVolume = { metadata: { name: 'v' }, spec: { capacity: { storage: size } } };
  return planExpansion(claim, { volume, now, totalBytes: 10 * gibibyte });
}

const begun = {
  ...atRest,
  allocatedResources: { storage: '2Gi' },
  allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
  conditions: [{ type: 'Resizing', status: 'True', lastTransitionTime: now }],
};

test('VO5: a claim that has what it asks for, or is not bound, is left alone', () => {
  assert.deepEqual(planFor('1Gi', atRest), { kind: 'nothing' });
  assert.deepEqual(planFor('1024Mi', atRest), { kind: 'nothing' });
  assert.deepEqual(planFor('2Gi', { phase: 'Pending' }), { kind: 'nothing' });
  assert.deepEqual(planFor('2Gi', undefined), { kind: 'nothing' });
});

test('VO5: a claim that asks for more is said to be resized, then its volume grows, then the claim has it', () => {
  assert.deepEqual(planFor('2Gi', atRest), { kind: 'begin', status: begun });
  // As a server stores it.
  const conditions = begun.conditions.map((condition) => ({ ...condition, lastProbeTime: null as unknown as string }));
  assert.deepEqual(planFor('2Gi', { ...begun, conditions }), { kind: 'grow volume', storage: '2Gi' });
  assert.deepEqual(planFor('2Gi', begun, '2Gi'), {
    kind: 'finish',
    status: { phase: 'Bound', capacity: { storage: '2Gi' }, allocatedResources: { storage: '2Gi' } },
  });
});

const why =
  '11Gi is more than the disk of this node has, which is 10240Mi; next: ask for less, or move the data directory to a larger disk';
const refused = {
  ...atRest,
  allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' },
  conditions: [{ type: 'ControllerResizeError', status: 'True', message: why, lastTransitionTime: now }],
};

test('VO5: more than the disk has is refused, said once, and forgotten when less is asked for', () => {
  assert.deepEqual(planFor('11Gi', atRest), { kind: 'refuse', reason: why, status: refused });
  assert.deepEqual(planFor('11Gi', refused), { kind: 'refuse', reason: why });
  assert.deepEqual(planFor('1Gi', refused), { kind: 'finish', status: atRest });
  assert.deepEqual(planFor('2Gi', refused), { kind: 'begin', status: begun });
});

test('VO5: conditions of others stay', () => {
  const other = { type: 'ModifyingVolume', status: 'True' };
  const plan = planFor('2Gi', { ...begun, conditions: [other, ...begun.conditions] }, '2Gi');
  assert.deepEqual(plan.kind === 'finish' && plan.status.conditions, [other]);
});
