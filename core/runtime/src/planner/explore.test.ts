import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocked, settled, step, wait } from '../decision.js';
import { type ExploreOptions, explore } from './explore.js';
import { forecast } from './forecast.js';
import type { Invariant, Model, Planner } from './planner.js';

/** A toy engine: workers are asked for and then start; none may ever be more than `limit` at once. */
interface Workers {
  readonly starting: number;
  readonly running: number;
}
type Step = 'add' | 'remove';
interface Wish {
  readonly workers: number;
  readonly limit: number;
}

const model: Model<Wish, Workers, Workers, Step> = {
  observe: (state) => state,
  apply: (state, action) =>
    action === 'add'
      ? [{ ...state, starting: state.starting + 1 }]
      : [{ ...state, running: Math.max(0, state.running - 1) }],
  progress: ({ starting, running }) =>
    starting > 0 ? [{ name: 'a worker starts', state: { starting: starting - 1, running: running + 1 } }] : [],
  faults: ({ starting, running }) =>
    running > 0 ? [{ name: 'a worker dies', state: { starting, running: running - 1 } }] : [],
  fingerprint: ({ starting, running }, action) => `${starting}/${running}${action ?? ''}`,
  describe: ({ starting, running }) => `${running} running, ${starting} starting`,
};

const careful: Planner<Wish, Workers, Step> = {
  plan(wish, { starting, running }) {
    if (starting > 0) return wait(`${starting} start`, 100);
    if (running < wish.workers) return step('add', `${running} of ${wish.workers} run`);
    if (running > wish.workers) return step('remove', `${running} run, ${wish.workers} are wanted`);
    return settled('all run');
  },
};

const neverTooMany: Invariant<Wish, Workers, Step> = {
  name: 'T1',
  violation: ({ after, desired }) =>
    after.starting + after.running > desired.limit ? `${after.starting + after.running} workers` : undefined,
};

function toy(planner: Planner<Wish, Workers, Step>, changes: { faults?: number; staleness?: number } = {}) {
  const desired: Wish = { workers: 3, limit: 3 };
  const options: ExploreOptions<Wish, Workers, Workers, Step> = {
    planner,
    model,
    desired,
    starts: [{ starting: 0, running: 0 }],
    invariants: [neverTooMany],
    faults: changes.faults ?? 2,
    staleness: changes.staleness ?? 0,
    maxStates: 1000,
    isGoal: ({ running }) => running === desired.workers,
    isBeyondRepair: () => false,
  };
  return explore(options);
}

test('a right planner is explored completely and nothing is found', () => {
  const result = toy(careful);
  assert.deepEqual(result.violations, []);
  assert.equal(result.isComplete, true);
  // 0..3 running with 0 or 1 starting, 4 of them never together: 0/0 1/0 0/1 1/1 0/2 1/2 0/3.
  assert.equal(result.states, 7);
});

test('a planner that does not look at what it has started breaks safety, and the shortest trace says how', () => {
  const hasty: Planner<Wish, Workers, Step> = {
    plan: (wish, { running }) => (running < wish.workers ? step('add', 'too few run') : settled('all run')),
  };
  const found = toy(hasty).violations.find((violation) => violation.rule === 'T1');
  assert.equal(found?.kind, 'safety');
  assert.equal(found?.message, '4 workers');
  assert.equal(
    found?.trace,
    [
      '   start             0 running, 0 starting',
      ' 1 step:             "add" because too few run',
      '                     0 running, 1 starting',
      ' 2 step:             "add" because too few run',
      '                     0 running, 2 starting',
      ' 3 step:             "add" because too few run',
      '                     0 running, 3 starting',
      ' 4 step:             "add" because too few run',
      '                     0 running, 4 starting',
    ].join('\n'),
  );
});

test('a step decided on a stale observation is explored, its own earlier write among what it missed', () => {
  const found = toy(careful, { faults: 0, staleness: 1 }).violations.find((violation) => violation.rule === 'T1');
  assert.match(found?.trace ?? '', /stale step: +"add" \(decided 1 move ago\) because 2 of 3 run/);
});

test('two steps old finds what one step old does not', () => {
  const guarded: Model<Wish, Workers, Workers, Step> = {
    ...model,
    // The store refuses a second worker while one starts, so only a decision from before that start does harm.
    apply: (state, action) => (action === 'add' && state.starting > 0 ? [state] : model.apply(state, action, wish)),
  };
  const wish: Wish = { workers: 1, limit: 1 };
  const look = (staleness: number) =>
    explore({
      planner: careful,
      model: guarded,
      desired: wish,
      starts: [{ starting: 0, running: 0 }],
      invariants: [neverTooMany],
      faults: 0,
      staleness,
      maxStates: 1000,
      isGoal: ({ running }) => running === wish.workers,
      isBeyondRepair: () => false,
    }).violations.map((violation) => violation.rule);
  assert.deepEqual(look(1), []);
  assert.deepEqual(look(2), ['T1']);
});

test('a planner that undoes what it did never settles, and the circle is shown', () => {
  const restless: Planner<Wish, Workers, Step> = {
    plan: (wish, observation) =>
      observation.running === wish.workers ? step('remove', 'one looks odd') : careful.plan(wish, observation),
  };
  const [found] = toy(restless, { faults: 0 }).violations;
  assert.equal(found?.rule, 'settles');
  assert.match(found?.trace ?? '', /and then round and round:\n(.*\n)*.*"remove" because one looks odd/);
});

test('a wait for what cannot happen is found', () => {
  const idle: Planner<Wish, Workers, Step> = { plan: () => wait('someone else will do it', 100) };
  const [found] = toy(idle).violations;
  assert.equal(found?.rule, 'waits only for what can happen');
  assert.equal(found?.trace, '   start             0 running, 0 starting');
});

test('giving up where something could be done is found', () => {
  const timid: Planner<Wish, Workers, Step> = {
    plan: (wish, observation) =>
      observation.running === 2 ? blocked('two are odd', 'ask someone') : careful.plan(wish, observation),
  };
  assert.ok(toy(timid).violations.some((violation) => violation.rule === 'blocked only beyond repair'));
});

test('being content with less than what was desired is found', () => {
  const lazy: Planner<Wish, Workers, Step> = {
    plan: (wish, observation) => (observation.running === 2 ? settled('enough') : careful.plan(wish, observation)),
  };
  assert.ok(toy(lazy).violations.some((violation) => violation.rule === 'settled is the goal'));
});

test('an exploration that reaches its bound says that it is not complete', () => {
  const result = explore({
    planner: careful,
    model,
    desired: { workers: 50, limit: 50 },
    starts: [{ starting: 0, running: 0 }],
    invariants: [],
    faults: 0,
    staleness: 0,
    maxStates: 10,
    isGoal: () => true,
    isBeyondRepair: () => false,
  });
  assert.equal(result.isComplete, false);
});

test('a forecast lists the steps with their reasons, and why it would wait after each', () => {
  const { entries, end, state } = forecast({
    planner: careful,
    model,
    desired: { workers: 2, limit: 2 },
    state: { starting: 0, running: 0 },
  });
  assert.deepEqual(
    entries.map(({ number, step: action, reason, thenWaits }) => ({ number, action, reason, thenWaits })),
    [
      { number: 1, action: 'add', reason: '0 of 2 run', thenWaits: ['1 start'] },
      { number: 2, action: 'add', reason: '1 of 2 run', thenWaits: ['1 start'] },
    ],
  );
  assert.equal(end.kind, 'settled');
  assert.deepEqual(state, { starting: 0, running: 2 });
});

test('a forecast that cannot end stops at its limit', () => {
  const restless: Planner<Wish, Workers, Step> = { plan: () => step('add', 'more') };
  const options = { planner: restless, model, desired: { workers: 1, limit: 1 }, state: { starting: 0, running: 0 } };
  assert.equal(forecast({ ...options, limit: 5 }).entries.length, 5);
});
