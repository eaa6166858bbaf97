import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodSpec } from '@castellan/machinery';
import fc from 'fast-check';
import type { ContainerFacts, RunEnd, RunFacts } from './container-facts.js';
import { failedPlan, planPod } from './pod-plan.js';
import { nextBackoffMs, restartAtMs } from './restart-backoff.js';

const spec: PodSpec = {
  restartPolicy: 'Always',
  initContainers: [
    { name: 'first', image: 'i' },
    { name: 'sidecar', image: 'i', restartPolicy: 'Always' },
    { name: 'second', image: 'i' },
  ],
  containers: [
    { name: 'one', image: 'i' },
    { name: 'two', image: 'i' },
  ],
};

function run(end?: Partial<RunEnd>, rest: Partial<RunFacts> = {}): RunFacts {
  const whole: RunEnd = { exitCode: 0, finishedAtMs: 1_000, reason: 'Completed', isSuspended: false, ...end };
  const common = { id: 'r', image: 'i', imageId: 'x', startedAtMs: 0, backoffMs: 0, ...rest };
  return end === undefined ? common : { ...common, end: whole };
}

function factsOf(runs: Readonly<Record<string, RunFacts | undefined>>): ReadonlyMap<string, ContainerFacts> {
  return new Map(
    Object.entries(runs).map(([name, current]) => {
      const isUp = current !== undefined && current.end === undefined;
      const common = { name, restartCount: 0, isStarted: isUp, isReady: isUp };
      return [name, current === undefined ? common : { ...common, current }];
    }),
  );
}

test('N4 each init container waits for the one before, and the main containers for all of them', () => {
  const startsWith = (runs: Readonly<Record<string, RunFacts>>) => planPod(spec, factsOf(runs), 2_000).start;
  assert.deepEqual(startsWith({}), ['first']);
  assert.deepEqual(startsWith({ first: run() }), []);
  const first = run({ exitCode: 0 });
  assert.deepEqual(startsWith({ first }), ['sidecar']);
  assert.deepEqual(startsWith({ first, sidecar: run() }), ['second']);
  const second = run({ exitCode: 0 });
  assert.deepEqual(startsWith({ first, sidecar: run(), second }), ['one', 'two']);
  const plan = planPod(spec, factsOf({ first, sidecar: run(), second: run() }), 2_000);
  assert.equal(plan.isInitialized, false);
});

test('N4 a sidecar that crashes later is started again and holds up nobody', () => {
  const first = run({ exitCode: 0 });
  const facts = factsOf({ first, sidecar: run({ exitCode: 1 }), second: run({ exitCode: 0 }), one: run(), two: run() });
  const plan = planPod(spec, facts, 2_000);
  assert.deepEqual(plan.start, ['sidecar']);
  assert.equal(plan.isInitialized, true);
});

test('N5 the restart policy decides whether a container that ended runs again, and how the pod ends', () => {
  const containers = [{ name: 'one', image: 'i' }];
  const outcome = (restartPolicy: string, exitCode: number) => {
    const plan = planPod({ containers, restartPolicy }, factsOf({ one: run({ exitCode }) }), 2_000);
    return plan.outcome ?? plan.start.join();
  };
  assert.equal(outcome('Always', 0), 'one');
  assert.equal(outcome('Always', 1), 'one');
  assert.equal(outcome('OnFailure', 0), 'Succeeded');
  assert.equal(outcome('OnFailure', 1), 'one');
  assert.equal(outcome('Never', 0), 'Succeeded');
  assert.equal(outcome('Never', 1), 'Failed');
});

test('N5 a failed init container ends a pod that is never restarted', () => {
  const plan = planPod({ ...spec, restartPolicy: 'Never' }, factsOf({ first: run({ exitCode: 1 }) }), 2_000);
  assert.equal(plan.outcome, 'Failed');
  assert.deepEqual(plan.start, []);
});

test('N8 what the plane stopped is started again under every policy, without waiting', () => {
  for (const restartPolicy of ['Always', 'OnFailure', 'Never']) {
    const one = run({ exitCode: 143, isSuspended: true }, { backoffMs: 300_000 });
    const plan = planPod({ containers: [{ name: 'one', image: 'i' }], restartPolicy }, factsOf({ one }), 1_001);
    assert.deepEqual(plan.start, ['one']);
    assert.equal(plan.outcome, undefined);
  }
});

test('N6 a restart waits for its time, and the plan says until when', () => {
  const one = run({ exitCode: 1 }, { backoffMs: 10_000 });
  const containers = [{ name: 'one', image: 'i' }];
  const early = planPod({ containers }, factsOf({ one }), 5_000);
  assert.deepEqual([early.start, [...early.backingOff], early.lookAgainAtMs], [[], ['one'], 11_000]);
  assert.deepEqual(planPod({ containers }, factsOf({ one }), 11_000).start, ['one']);
});

test('N6 waits are 0, 10, 20, 40 … seconds and never above 300, until a run of ten minutes', () => {
  const waits: number[] = [];
  let previous: RunFacts | undefined;
  for (let count = 0; count < 9; count += 1) {
    previous = run({ exitCode: 1 }, { backoffMs: nextBackoffMs(previous) });
    waits.push(restartAtMs(previous) - 1_000);
  }
  assert.deepEqual(waits, [0, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
  const long = run({ exitCode: 1, finishedAtMs: 600_001 }, { backoffMs: 300_000 });
  assert.equal(restartAtMs(long), 0);
  assert.equal(nextBackoffMs(long), 10_000);
});

test('N9 a running container of another image is replaced, one of the same is left', () => {
  const containers = [{ name: 'one', image: 'new' }];
  assert.deepEqual(planPod({ containers }, factsOf({ one: run() }), 0).replace, ['one']);
  assert.deepEqual(planPod({ containers }, factsOf({ one: run(undefined, { image: 'new' }) }), 0).replace, []);
});

test('N4 N5 whatever the facts: a main container first starts only after all init containers, and an ended pod starts nothing', () => {
  const names = ['first', 'sidecar', 'second', 'one', 'two'];
  const anyRun = fc.oneof(
    fc.constant(undefined),
    fc.constant(run()),
    fc.integer({ min: 0, max: 1 }).map((exitCode) => run({ exitCode })),
  );
  const anyRuns = fc.tuple(anyRun, anyRun, anyRun, anyRun, anyRun);
  const anyPolicy = fc.constantFrom('Always', 'OnFailure', 'Never');
  fc.assert(
    fc.property(anyRuns, anyPolicy, (runs, restartPolicy) => {
      const facts = factsOf(Object.fromEntries(names.map((name, index) => [name, runs[index]])));
      const plan = planPod({ ...spec, restartPolicy }, facts, 2_000);
      const [first, sidecar, second, one, two] = runs;
      const isFresh = one === undefined && two === undefined;
      const areInitsDone =
        first?.end?.exitCode === 0 &&
        second?.end?.exitCode === 0 &&
        sidecar?.end === undefined &&
        sidecar !== undefined;
      if (isFresh && !areInitsDone) assert.ok(!plan.start.includes('one') && !plan.start.includes('two'));
      if (plan.outcome !== undefined) assert.deepEqual([plan.start, plan.lookAgainAtMs], [[], undefined]);
      for (const name of plan.start)
        assert.ok(facts.get(name)?.current === undefined || facts.get(name)?.current?.end !== undefined);
    }),
  );
});

test('N5 a container’s own policy and rules for exit codes come before those of the pod', () => {
  const rules = [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }];
  const none = [{ action: 'Restart', exitCodes: { operator: 'NotIn', values: [1, 2] } }];
  const move = (container: object, exitCode: number) => {
    const one = { name: 'one', image: 'i', ...container };
    const plan = planPod({ restartPolicy: 'Never', containers: [one] }, factsOf({ one: run({ exitCode }) }), 2_000);
    return plan.outcome ?? plan.start.join();
  };
  assert.deepEqual(
    [move({ restartPolicyRules: rules }, 42), move({ restartPolicyRules: rules }, 1)],
    ['one', 'Failed'],
  );
  assert.deepEqual([move({ restartPolicyRules: none }, 3), move({ restartPolicyRules: none }, 2)], ['one', 'Failed']);
  assert.deepEqual(
    [move({ restartPolicy: 'OnFailure' }, 1), move({ restartPolicy: 'OnFailure' }, 0)],
    ['one', 'Succeeded'],
  );
});

test('N41 a container whose postStart hook runs holds up those after it', () => {
  const facts = new Map([...factsOf({ one: run() })].map(([name, fact]) => [name, { ...fact, isStarting: true }]));
  const containers = ['one', 'two'].map((name) => ({ name, image: 'i' }));
  assert.deepEqual(planPod({ containers }, facts, 2_000).start, []);
  assert.deepEqual(planPod({ containers }, factsOf({ one: run() }), 2_000).start, ['two']);
});

test('N42 what is to fail as a whole starts nothing any more', () => {
  const plan = planPod({ containers: [{ name: 'one', image: 'i' }] }, factsOf({}), 2_000);
  assert.deepEqual([plan.start, plan.outcome], [['one'], undefined]);
  assert.deepEqual([failedPlan(plan).start, failedPlan(plan).outcome], [[], 'Failed']);
});
