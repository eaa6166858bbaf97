import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Observed, type PodView, planSet, type SetPlan } from '../src/stateful-sets/plan-set.js';
import type { SetView, UpdateRule } from '../src/stateful-sets/set-view.js';

const rolling = (partition = 0, maxUnavailable = 1): UpdateRule => ({ kind: 'rolling', partition, maxUnavailable });

function ordered(replicas: number, more: Partial<SetView> = {}): SetView {
  return {
    name: 'web',
    replicas,
    start: 0,
    isOrdered: true,
    minReadySeconds: 0,
    update: rolling(),
    retention: { deleteWithSet: false, deleteWhenScaled: false },
    ...more,
  };
}

const parallel = (replicas: number, more: Partial<SetView> = {}) => ordered(replicas, { isOrdered: false, ...more });

/** An available pod of the update's revision, unless `more` says otherwise. */
function pod(ordinal: number, more: Partial<PodView> = {}): PodView {
  return {
    ordinal,
    revision: 'new',
    phase: 'running',
    isAvailable: true,
    isTerminating: false,
    isAsItShouldBe: true,
    ...more,
  };
}

const pending = { phase: 'pending', isAvailable: false } as const;
const broken = { isAvailable: false } as const;
const ending = { isTerminating: true } as const;
const old = { revision: 'old' } as const;

function observed(pods: readonly PodView[], more: Partial<Observed> = {}): Observed {
  return { pods, currentRevision: 'old', updateRevision: 'new', leftClaims: new Set(), ...more };
}

/** The plan in one line each: what is done together, and what is waited for. */
function shown({ phases, waitsFor }: SetPlan): readonly string[] {
  const lines = phases
    .filter((steps) => steps.length > 0)
    .map((steps) =>
      steps
        .map((step) => {
          const detail =
            step.kind === 'create' ? ` of ${step.revision}` : step.kind === 'delete' ? `: ${step.because}` : '';
          return `${step.kind} ${step.ordinal}${detail}`;
        })
        .join(', '),
    );
  return waitsFor === undefined ? lines : [...lines, `wait for ${waitsFor}`];
}

const cases: readonly (readonly [string, SetView, Observed, readonly string[]])[] = [
  [
    'ST2: the first pod is made alone',
    ordered(3),
    observed([]),
    ['create 0 of new', 'wait for pod web-0 to be available'],
  ],
  [
    'ST2: the next waits until the one before is available',
    ordered(3),
    observed([pod(0, pending)]),
    ['wait for pod web-0 to be available'],
  ],
  ['ST2: then it is made', ordered(3), observed([pod(0)]), ['create 1 of new', 'wait for pod web-1 to be available']],
  [
    'ST2: a gap is filled before anything after it is looked at',
    ordered(3),
    observed([pod(0), pod(2, old)]),
    ['create 1 of new', 'wait for pod web-1 to be available'],
  ],
  [
    'ST1: a pod that is ending is waited for, not replaced',
    ordered(2),
    observed([pod(0, ending), pod(1)]),
    ['wait for pod web-0 to be gone'],
  ],
  [
    'ST1: ordinals begin where the set says',
    ordered(2, { start: 5 }),
    observed([pod(5)]),
    ['create 6 of new', 'wait for pod web-6 to be available'],
  ],
  [
    'ST2: a set that moves to other ordinals makes the new ones before it ends the old ones',
    ordered(1, { start: 5 }),
    observed([pod(0), pod(5)]),
    ['delete 0: scale', 'wait for pod web-0 to be gone'],
  ],
  [
    'ST2: of too many the highest goes first, alone',
    ordered(1),
    observed([pod(0), pod(1), pod(2)]),
    ['delete 2: scale', 'wait for pod web-2 to be gone'],
  ],
  [
    'ST2: the next goes when that one is gone',
    ordered(1),
    observed([pod(0), pod(1), pod(2, ending)]),
    ['wait for pod web-2 to be gone'],
  ],
  [
    'ST2: none goes while one that stays is missing',
    ordered(1),
    observed([pod(0, broken), pod(1)]),
    ['wait for pod web-0 to be available'],
  ],
  [
    'ST2: a broken one goes when it is the only one',
    ordered(1),
    observed([pod(0), pod(1, broken)]),
    ['delete 1: scale', 'wait for pod web-1 to be gone'],
  ],
  [
    'ST2: of two broken ones the lower is waited for, as upstream does',
    ordered(1),
    observed([pod(0), pod(1, broken), pod(2, broken)]),
    ['wait for pod web-1 to be available'],
  ],
  [
    'ST2: of two that have ended the highest goes',
    ordered(1),
    observed([pod(0), pod(1, { phase: 'ended', ...broken }), pod(2, { phase: 'ended', ...broken })]),
    ['delete 2: scale', 'wait for pod web-2 to be gone'],
  ],
  [
    'ST2: no replicas at all',
    ordered(0),
    observed([pod(0), pod(1)]),
    ['delete 1: scale', 'wait for pod web-1 to be gone'],
  ],
  [
    'ST3: all that are missing are made at once',
    parallel(3),
    observed([pod(1, pending)]),
    ['create 0 of new, create 2 of new'],
  ],
  [
    'ST3: all that are too many go at once, ready or not',
    parallel(1),
    observed([pod(0, pending), pod(1), pod(2, broken), pod(3, ending)]),
    ['delete 2: scale, delete 1: scale'],
  ],
  [
    'ST1: a pod that is ending is not replaced in a parallel set either',
    parallel(2),
    observed([pod(0, ending), pod(1, ending)]),
    [],
  ],
  [
    'ST4: the highest pod of another revision is ended',
    ordered(3),
    observed([pod(0, old), pod(1, old), pod(2, old)]),
    ['delete 2: update'],
  ],
  [
    'ST4: the next when that one is available again',
    ordered(3),
    observed([pod(0, old), pod(1, old), pod(2, pending)]),
    ['wait for pod web-2 to be available'],
  ],
  ['ST4: and so on', ordered(3), observed([pod(0, old), pod(1, old), pod(2)]), ['delete 1: update']],
  [
    'ST4: none before the partition',
    ordered(3, { update: rolling(2) }),
    observed([pod(0, old), pod(1, old), pod(2)]),
    [],
  ],
  [
    'ST4: the partition is counted from the first ordinal',
    ordered(3, { start: 10, update: rolling(2) }),
    observed([pod(10, old), pod(11, old), pod(12, old)]),
    ['delete 12: update'],
  ],
  [
    'ST4: a partition beyond all pods holds all back',
    ordered(2, { update: rolling(7) }),
    observed([pod(0, old), pod(1, old)]),
    [],
  ],
  [
    'ST4: as many at once as may be missing',
    ordered(4, { update: rolling(0, 2) }),
    observed([pod(0, old), pod(1, old), pod(2, old), pod(3, old)]),
    ['delete 3: update, delete 2: update'],
  ],
  [
    'ST4: what is missing before the partition counts in a parallel set',
    parallel(3, { update: rolling(1) }),
    observed([pod(0, { ...old, ...broken }), pod(1, old), pod(2, old)]),
    [],
  ],
  [
    'ST4: a parallel set ends what is of no use first, whatever the limit',
    parallel(4),
    observed([pod(0, { ...old, ...broken }), pod(1, { ...old, ...broken }), pod(2, old), pod(3, old)]),
    ['delete 1: update, delete 0: update'],
  ],
  [
    'ST4: and then as many others as the limit leaves',
    parallel(4, { update: rolling(0, 3) }),
    observed([pod(0, { ...old, ...broken }), pod(1, old), pod(2, old), pod(3, old)]),
    ['delete 0: update, delete 3: update, delete 2: update'],
  ],
  [
    'ST4: smaller comes before newer',
    ordered(2),
    observed([pod(0, old), pod(1, old), pod(2, old)]),
    ['delete 2: scale', 'wait for pod web-2 to be gone'],
  ],
  [
    'ST5: before the partition a pod is made of the current revision',
    ordered(2, { update: rolling(1) }),
    observed([]),
    ['create 0 of old', 'wait for pod web-0 to be available'],
  ],
  [
    'ST5: from the partition on of the update’s',
    ordered(2, { update: rolling(1) }),
    observed([pod(0, old)]),
    ['create 1 of new', 'wait for pod web-1 to be available'],
  ],
  [
    'ST5: on delete nothing is ended',
    ordered(2, { update: { kind: 'on delete' } }),
    observed([pod(0, old), pod(1, old)]),
    [],
  ],
  [
    'ST5: on delete what is made is of the update’s revision',
    ordered(2, { update: { kind: 'on delete' } }),
    observed([pod(1, old)]),
    ['create 0 of new', 'wait for pod web-0 to be available'],
  ],
  [
    'ST6: a pod that ended is deleted',
    ordered(2),
    observed([pod(0, { phase: 'ended', ...broken }), pod(1)]),
    ['delete 0: it has ended', 'wait for pod web-0 to be gone'],
  ],
  ['ST6: once', parallel(1), observed([pod(0, { phase: 'ended', ...broken, ...ending })]), []],
  [
    'ST6: a parallel set does not delete one that ended twice, for being old',
    parallel(1),
    observed([pod(0, { phase: 'ended', ...broken, ...old })]),
    ['delete 0: it has ended'],
  ],
  [
    'ST6: a pod of a broken revision stops an ordered set, though the template is right now',
    ordered(3),
    observed([pod(0, old), pod(1, old), pod(2, { revision: 'broken', ...broken })]),
    ['wait for pod web-2 to be available'],
  ],
  [
    'ST7: claims that are about to go keep a pod from being made',
    ordered(2),
    observed([pod(0)], { leftClaims: new Set([1]) }),
    ['wait for the claims of pod web-1 to be deleted'],
  ],
  [
    'ST7: and others of a parallel set are made',
    parallel(2),
    observed([], { leftClaims: new Set([1]) }),
    ['create 0 of new'],
  ],
  [
    'ST8: what a pod lost is given back while it waits for that',
    ordered(2),
    observed([pod(0, { ...pending, isAsItShouldBe: false })]),
    ['repair 0', 'wait for pod web-0 to be available'],
  ],
  ['ST8: and when it runs', ordered(2), observed([pod(0, { isAsItShouldBe: false }), pod(1)]), ['repair 0']],
  [
    'ST8: the claims of a pod that is too many too, before it goes',
    ordered(1),
    observed([pod(0), pod(1, { isAsItShouldBe: false })]),
    ['repair 1', 'delete 1: scale', 'wait for pod web-1 to be gone'],
  ],
];

for (const [title, set, world, expected] of cases) {
  test(title, () => assert.deepEqual(shown(planSet(set, world)), expected));
}

test('ST2: a set whose pods are all there and of its revision is left alone', () => {
  for (const set of [ordered(3), parallel(3)]) {
    assert.deepEqual(shown(planSet(set, observed([pod(0), pod(1), pod(2)]))), []);
  }
});
