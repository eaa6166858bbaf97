import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EtcdDesired, EtcdObservation, MemberView, PodView } from './observation.js';
import { planEtcdCluster } from './plan.js';

const three: EtcdDesired = { name: 'demo', size: 3, isPaused: false };

function voter(name: string, changes: Partial<MemberView> = {}): MemberView {
  return {
    id: name,
    name,
    isLearner: false,
    isStarted: true,
    isLeader: false,
    isHealthy: true,
    isCaughtUp: false,
    isOverdue: false,
    version: '3.4.23',
    ...changes,
  };
}

const leader = (name: string) => voter(name, { isLeader: true });
const learner = (name: string, changes: Partial<MemberView> = {}) => voter(name, { isLearner: true, ...changes });
const down = { isHealthy: false } as const;

function pod(name: string, changes: Partial<PodView> = {}): PodView {
  return {
    name,
    uid: `uid-${name}`,
    phase: 'running',
    isReady: true,
    initialState: 'existing',
    isOverdue: false,
    age: 0,
    note: 'its note',
    ...changes,
  };
}

/** A formed cluster; each member has a running pod unless `pods` says otherwise. */
function formed(members: readonly MemberView[], changes: Partial<EtcdObservation> = {}): EtcdObservation {
  return {
    hasPeerService: true,
    hasClientService: true,
    latchedClusterId: 'c1',
    seedName: 'demo-seed',
    freshName: 'demo-fresh',
    pods: members.map(({ name }, age) => pod(name, { age })),
    membership: { kind: 'known', clusterId: 'c1', members },
    pause: undefined,
    ...changes,
  };
}

const nobody = { kind: 'unknown', reason: 'none is up', learners: [] } as const;

/** Nothing but the EtcdCluster. */
const nothing = formed([], {
  hasPeerService: false,
  hasClientService: false,
  latchedClusterId: undefined,
  membership: nobody,
});

function stepFor(observed: EtcdObservation, desired = three) {
  const decision = planEtcdCluster(desired, observed);
  return decision.kind === 'step' ? decision.step : decision;
}

test('the peer service comes before the first pod', () => {
  assert.deepEqual(stepFor(nothing), { kind: 'createPeerService' });
});

test('the seed has the same name in every pass, so that it is made once', () => {
  assert.deepEqual(stepFor({ ...nothing, hasPeerService: true }), { kind: 'createSeed', name: 'demo-seed' });
});

test('the cluster ID is latched when the seed alone has formed its cluster', () => {
  const seed = pod('demo-seed', { initialState: 'new' });
  const observed = formed([leader('demo-seed')], { latchedClusterId: undefined, pods: [seed] });
  assert.deepEqual(stepFor(observed), { kind: 'latchCluster', clusterId: 'c1' });
});

test('the seed is sealed before clients are let in and before anyone is added', () => {
  const seed = pod('demo-seed', { initialState: 'new' });
  const observed = formed([leader('demo-seed')], { pods: [seed], hasClientService: false });
  assert.deepEqual(stepFor(observed), { kind: 'sealSeed', name: 'demo-seed', uid: 'uid-demo-seed' });
});

test('once a cluster was formed no seed is made again, even when every pod is gone', () => {
  const decision = planEtcdCluster(three, formed([], { membership: nobody }));
  assert.equal(decision.kind, 'blocked');
  assert.match(decision.kind === 'blocked' ? decision.remedy : '', /restore the cluster from a backup/);
});

test('a seed that fails before it formed a cluster is made anew', () => {
  const seed = pod('demo-seed', { initialState: 'new', phase: 'dead' });
  const observed = { ...nothing, hasPeerService: true, pods: [seed] };
  assert.deepEqual(stepFor(observed), { kind: 'discardSeed', name: 'demo-seed', uid: 'uid-demo-seed' });
});

test('a seed that was started again and does not answer in time is made anew; one that answers is waited for', () => {
  const seed = pod('demo-seed', { initialState: 'new', isOverdue: true });
  const silent = { ...nothing, hasPeerService: true, pods: [seed] };
  assert.deepEqual(stepFor(silent), { kind: 'discardSeed', name: 'demo-seed', uid: 'uid-demo-seed' });
  const electing = formed([voter('demo-seed')], { latchedClusterId: undefined, pods: [seed] });
  assert.equal(planEtcdCluster(three, electing).kind, 'wait');
});

test('a seed is not sealed while it does not answer: that nothing was lost with it would be forgotten', () => {
  const seed = pod('demo-seed', { initialState: 'new' });
  const silent = formed([], { pods: [seed], membership: nobody, hasClientService: false });
  assert.equal(planEtcdCluster(three, silent).kind, 'wait');
  const overdue = formed([], { ...silent, pods: [{ ...seed, isOverdue: true }] });
  assert.equal(planEtcdCluster(three, overdue).kind, 'blocked');
});

test('members join one by one, as learners', () => {
  assert.deepEqual(stepFor(formed([leader('a')])), { kind: 'addLearner', name: 'demo-fresh' });
});

test('nobody is added while etcd would refuse, and the reason is given', () => {
  const pause = { reason: 'not yet', forMs: 1200 };
  assert.deepEqual(stepFor(formed([leader('a')], { pause })), { kind: 'wait', reason: 'not yet', afterMs: 1200 });
});

test('an addition that was begun is finished with a pod that knows all members', () => {
  const observed = formed([leader('a'), learner('b', { isStarted: false, ...down })], { pods: [pod('a')] });
  assert.deepEqual(stepFor(observed), { kind: 'createPod', name: 'b', peers: ['a', 'b'] });
});

test('a learner is promoted when it has caught up, and not before', () => {
  assert.equal(planEtcdCluster(three, formed([leader('a'), learner('b')])).kind, 'wait');
  const ready = formed([leader('a'), learner('b', { isCaughtUp: true })]);
  assert.deepEqual(stepFor(ready), { kind: 'promote', id: 'b', name: 'b' });
});

test('a learner that does not catch up in time is removed, and its place is free again', () => {
  const observed = formed([leader('a'), learner('b', { isOverdue: true })]);
  assert.deepEqual(stepFor(observed), { kind: 'removeMember', id: 'b', name: 'b', isReplaced: false });
});

test('a learner that cannot start is removed, and then its pod', () => {
  const dead = [pod('a'), pod('b', { phase: 'dead' })];
  const observed = formed([leader('a'), learner('b', { isStarted: false, ...down })], { pods: dead });
  assert.deepEqual(stepFor(observed), { kind: 'removeMember', id: 'b', name: 'b', isReplaced: true });
  const after = formed([leader('a')], { pods: dead });
  assert.deepEqual(stepFor(after), { kind: 'deletePod', name: 'b', uid: 'uid-b', isForced: true });
});

test('a voter whose pod is gone is removed before anyone is promoted or added', () => {
  const members = [leader('a'), voter('b'), voter('c', down), learner('d', { isCaughtUp: true })];
  const observed = formed(members, { pods: [pod('a'), pod('b'), pod('d')] });
  assert.deepEqual(stepFor(observed), { kind: 'removeMember', id: 'c', name: 'c', isReplaced: true });
});

test('a voter that is restarting in place is waited for, not replaced', () => {
  const pods = [pod('a'), pod('b'), pod('c', { phase: 'starting', note: 'etcd is restarted' })];
  const decision = planEtcdCluster(three, formed([leader('a'), voter('b'), voter('c', down)], { pods }));
  assert.deepEqual([decision.kind, decision.reason], ['wait', 'c does not answer: etcd is restarted']);
});

test('without quorum nothing is changed; pods that may come back are waited for', () => {
  const starting = [pod('a'), pod('b', { phase: 'starting' }), pod('c', { phase: 'starting' })];
  const members = [voter('a'), voter('b', down), voter('c', down)];
  const decision = planEtcdCluster({ ...three, size: 5 }, formed(members, { pods: starting }));
  assert.deepEqual(
    [decision.kind, decision.reason],
    ['wait', '1 of 3 voters are well, quorum is 2; waiting for pods to come back'],
  );
});

test('when too few can come back with their data a person is told what to do', () => {
  const decision = planEtcdCluster(
    three,
    formed([voter('a'), voter('b', down), voter('c', down)], { pods: [pod('a')] }),
  );
  assert.equal(decision.kind, 'blocked');
  assert.match(decision.reason, /quorum is lost for good: 1 of 3 voters are well, quorum is 2/);
});

test('scaling in takes an unwell voter before a well one', () => {
  const pods = [pod('a'), pod('b'), pod('c', { phase: 'starting' }), pod('d')];
  const observed = formed([leader('a'), voter('b'), voter('c', down), voter('d')], { pods });
  assert.deepEqual(stepFor(observed), { kind: 'removeMember', id: 'c', name: 'c', isReplaced: false });
});

test('scaling in takes the newest of those that do not lead', () => {
  const observed = formed(
    [voter('a'), leader('b'), voter('c'), leader('d')].map((each, index) => {
      return index === 3 ? leader('d') : { ...each, isLeader: false };
    }),
  );
  assert.deepEqual(stepFor(observed), { kind: 'removeMember', id: 'c', name: 'c', isReplaced: false });
});

test('a leader that must go hands over first', () => {
  const pods = [pod('a', { phase: 'terminating' }), pod('b')];
  const observed = formed([leader('a'), voter('b')], { pods });
  const decision = stepFor(observed, { ...three, size: 1 });
  // Of two, one well voter is not a quorum's worth of certainty, but one is the size wanted: the leaving one goes.
  assert.deepEqual(decision, { kind: 'moveLeader', from: 'a', id: 'b', name: 'b' });
});

test('a pod that is no member is deleted, but not because the members are unknown', () => {
  const pods = [pod('a'), pod('stray')];
  assert.deepEqual(stepFor(formed([leader('a')], { pods })), {
    kind: 'deletePod',
    name: 'stray',
    uid: 'uid-stray',
    isForced: false,
  });
  assert.equal(planEtcdCluster(three, formed([], { pods, membership: nobody })).kind, 'wait');
});

test('members of another cluster freeze everything', () => {
  const decision = planEtcdCluster(three, formed([leader('a')], { latchedClusterId: 'c2' }));
  assert.equal(decision.kind, 'blocked');
  assert.match(decision.reason, /their cluster is c1, not c2/);
});

test('while paused nothing is changed', () => {
  assert.equal(planEtcdCluster({ ...three, isPaused: true }, nothing).kind, 'wait');
});

test('a whole cluster is settled', () => {
  const decision = planEtcdCluster(three, formed([leader('a'), voter('b'), voter('c')]));
  assert.deepEqual(decision, { kind: 'settled', reason: '3 members, all voting and healthy' });
});

test('settled with a pod that is not ready: the reason names the pod, and why', () => {
  const members = [leader('a'), voter('b'), voter('c')];
  const unreadyNote = 'ContainersNotReady: containers with unready status: [etcd]';
  const pods = [pod('a'), pod('b', { isReady: false, unreadyNote }), pod('c')];
  assert.deepEqual(planEtcdCluster(three, formed(members, { pods })), {
    kind: 'settled',
    reason: `3 members, all voting and healthy; pod b is not ready (${unreadyNote})`,
  });
});

test('every decision has a reason, whatever was observed, and the same observation gives the same decision', () => {
  const flag = fc.boolean();
  const anyMember = fc.record({
    isLearner: flag,
    isStarted: flag,
    isLeader: flag,
    isHealthy: flag,
    isCaughtUp: flag,
    isOverdue: flag,
  });
  const anyPhase = fc.constantFrom<PodView['phase'] | 'none'>('starting', 'running', 'terminating', 'dead', 'none');
  const anySlot = fc.record({ member: fc.option(anyMember, { nil: undefined }), phase: anyPhase, isNew: flag });
  const anyCluster = fc.record({
    slots: fc.array(anySlot, { maxLength: 7 }),
    hasPeerService: flag,
    hasClientService: flag,
    isLatched: flag,
    isKnown: flag,
    size: fc.integer({ min: 1, max: 7 }),
  });
  fc.assert(
    fc.property(anyCluster, ({ slots, hasPeerService, hasClientService, isLatched, isKnown, size }) => {
      const members = slots.flatMap(({ member }, index) => (member ? [voter(`m${index}`, member)] : []));
      const pods = slots.flatMap(({ phase, isNew }, age) =>
        phase === 'none' ? [] : [pod(`m${age}`, { phase, age, initialState: isNew ? 'new' : 'existing' })],
      );
      const observed = formed(members, {
        pods,
        hasPeerService,
        hasClientService,
        latchedClusterId: isLatched ? 'c1' : undefined,
        membership: isKnown ? { kind: 'known', clusterId: 'c1', members } : nobody,
      });
      const decision = planEtcdCluster({ ...three, size }, observed);
      assert.ok(decision.reason.length > 0);
      assert.deepEqual(planEtcdCluster({ ...three, size }, observed), decision);
    }),
  );
});
