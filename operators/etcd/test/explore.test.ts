import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Exploration, Planner } from '@castellan/runtime';
import { step } from '@castellan/runtime';
import {
  type EtcdDesired,
  type EtcdObservation,
  type EtcdStep,
  type ExploreEtcdOptions,
  etcdPlanner,
  exploreEtcd,
} from '../src/index.js';

type EtcdPlanner = Planner<EtcdDesired, EtcdObservation, EtcdStep>;

/** What `npm test` explores; `npm run sim` goes further. */
const bound = { startSlots: 5, faults: 2, staleness: 2 } as const;

for (const size of [1, 2, 3, 4, 5]) {
  test(`E1–E9 hold and all settles: size ${size}, from any start of up to 5, 2 faults, stale observations`, (context) => {
    assertClean(context, { size, ...bound });
  });
}

for (const size of [1, 3, 5]) {
  test(`E1–E9 hold for size ${size} without any guard outside the planner, while observations are fresh`, (context) => {
    assertClean(context, { size, ...bound, staleness: 0, isGuarded: false });
  });
}

test('a planner that removes a voter without counting quorum is caught (E2)', () => {
  const careless: EtcdPlanner = {
    plan: (desired, observed) => {
      const { membership } = observed;
      const voters = membership.kind === 'known' ? membership.members.filter(({ isLearner }) => !isLearner) : [];
      const victim = voters.findLast(({ isHealthy, isLeader }) => isHealthy && !isLeader);
      const hasLeader = voters.some(({ isLeader }) => isLeader);
      if (voters.length <= desired.size || victim === undefined || !hasLeader)
        return etcdPlanner.plan(desired, observed);
      return step({ kind: 'removeMember', id: victim.id, name: victim.name, isReplaced: false }, 'too many');
    },
  };
  const found = exploreEtcd({ size: 3, ...bound, staleness: 0, isGuarded: false, planner: careless });
  assertFound(found, 'E2', /step: +remove m\d from the members because too many/);
});

test('a planner that does not seal the seed is caught making a second cluster (E1)', () => {
  const unsealing: EtcdPlanner = {
    plan: (desired, observed) => {
      const pods = observed.pods.map((pod) => ({ ...pod, initialState: 'existing' as const }));
      return etcdPlanner.plan(desired, observed.latchedClusterId === undefined ? observed : { ...observed, pods });
    },
  };
  const found = exploreEtcd({ size: 3, startSlots: 0, faults: 1, staleness: 0, planner: unsealing });
  assertFound(found, 'E1', /fault: +m0 loses its data and restarts\n.*\n.*world: +m0 forms a cluster\n.*2 CLUSTERS/);
  assertFound(found, 'E5', /add m1 to the members as a learner/);
});

test('a planner that promotes while a voter is lost is caught (E9)', () => {
  const hasty: EtcdPlanner = {
    plan: (desired, observed) => {
      const { membership } = observed;
      const members = membership.kind === 'known' ? membership.members : [];
      const learner = members.find(({ isLearner, isCaughtUp, isHealthy }) => isLearner && isCaughtUp && isHealthy);
      const hasLeader = members.some(({ isLeader }) => isLeader);
      if (learner === undefined || !hasLeader) return etcdPlanner.plan(desired, observed);
      return step({ kind: 'promote', id: learner.id, name: learner.name }, 'it is ready');
    },
  };
  assertFound(exploreEtcd({ size: 3, ...bound, staleness: 0, planner: hasty }), 'E9', /promote m\d to a voter/);
});

test('a planner that adds a member while another has not started is caught (E4)', () => {
  const impatient: EtcdPlanner = {
    plan: (desired, observed) => {
      const decision = etcdPlanner.plan(desired, observed);
      const isStarting = decision.kind === 'wait' && decision.reason.includes('starting as a learner');
      return isStarting ? step({ kind: 'addLearner', name: observed.freshName }, 'time is short') : decision;
    },
  };
  const options = { size: 3, startSlots: 0, faults: 0, staleness: 0, isGuarded: false, maxStates: 1000 } as const;
  assertFound(exploreEtcd({ ...options, planner: impatient }), 'E4', /add m2 to the members .* because time is short/);
});

test('a planner that makes a seed whenever there is no pod is caught (E6)', () => {
  const forgetful: EtcdPlanner = {
    plan: (desired, observed) =>
      observed.hasPeerService && observed.pods.length === 0
        ? step({ kind: 'createSeed', name: observed.seedName }, 'there is no pod')
        : etcdPlanner.plan(desired, observed),
  };
  const options = { size: 1, startSlots: 0, faults: 1, staleness: 0, isGuarded: false } as const;
  assertFound(
    exploreEtcd({ ...options, planner: forgetful }),
    'E6',
    /step: +create the seed m\d because there is no pod/,
  );
});

test('a planner that deletes the pod of a member that is up is caught (E3)', () => {
  const impatient: EtcdPlanner = {
    plan: (desired, observed) => {
      const extra = observed.pods[desired.size];
      if (extra?.phase !== 'running') return etcdPlanner.plan(desired, observed);
      return step({ kind: 'deletePod', name: extra.name, uid: extra.uid, isForced: false }, 'too many pods');
    },
  };
  assertFound(
    exploreEtcd({ size: 3, ...bound, faults: 0, staleness: 0, planner: impatient }),
    'E3',
    /delete the pod m3/,
  );
});

test('a planner that adds one more than wanted is caught (E7)', () => {
  const generous: EtcdPlanner = {
    plan: (desired, observed) => etcdPlanner.plan({ ...desired, size: desired.size + 1 }, observed),
  };
  const found = exploreEtcd({ size: 3, startSlots: 0, faults: 0, staleness: 0, planner: generous });
  assertFound(found, 'E7', /promote m3 to a voter/);
  assertFound(found, 'settled is the goal', /m3/);
});

test('a planner that makes pods before the service that names them is caught (E8)', () => {
  const unnamed: EtcdPlanner = {
    plan: (desired, observed) => etcdPlanner.plan(desired, { ...observed, hasPeerService: true }),
  };
  assertFound(
    exploreEtcd({ size: 1, startSlots: 0, faults: 0, staleness: 0, planner: unnamed }),
    'E8',
    /create the seed m0/,
  );
});

test('a planner that waits for a lost member to come back is caught (it never settles)', () => {
  const patient: EtcdPlanner = {
    plan: (desired, observed) => {
      const decision = etcdPlanner.plan(desired, observed);
      const isReplacing = decision.kind === 'step' && decision.step.kind === 'removeMember' && decision.step.isReplaced;
      return isReplacing ? { kind: 'wait', reason: 'it may come back', afterMs: 1000 } : decision;
    },
  };
  const found = exploreEtcd({ size: 3, startSlots: 0, faults: 1, staleness: 0, planner: patient });
  assertFound(found, 'waits only for what can happen', /fault: +m\d's pod vanishes with its data/);
});

test('a planner that waits for a seed which was killed as it first started is caught', () => {
  const patient: EtcdPlanner = {
    plan: (desired, observed) => {
      const pods = observed.pods.map((pod) => ({ ...pod, isOverdue: false }));
      return etcdPlanner.plan(desired, { ...observed, pods });
    },
  };
  const found = exploreEtcd({ size: 1, startSlots: 0, faults: 1, staleness: 0, planner: patient });
  assertFound(found, 'waits only for what can happen', /fault: +m0 is killed as it first starts/);
});

function assertClean(context: TestContext, options: ExploreEtcdOptions): void {
  const { violations, isComplete, states, staleSituations, transitions } = exploreEtcd(options);
  const [first] = violations;
  assert.equal(first, undefined, first && `${first.rule}: ${first.message}\n${first.trace}`);
  assert.ok(isComplete);
  context.diagnostic(`explored ${states} states, ${staleSituations} stale situations, ${transitions} moves`);
}

function assertFound(found: Exploration, rule: string, trace: RegExp): void {
  const violation = found.violations.find((each) => each.rule === rule);
  assert.ok(violation, `${rule} was not found broken; found: ${found.violations.map((each) => each.rule).join(', ')}`);
  assert.match(violation.trace, trace);
}
