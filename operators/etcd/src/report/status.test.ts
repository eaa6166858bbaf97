import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EtcdCluster, EtcdClusterStatus } from '../api/etcd-cluster.js';
import { desiredOf } from '../desired.js';
import type { EtcdObservation, EtcdStep, MemberView, PodView } from '../observation.js';
import { planEtcdCluster } from '../plan.js';
import { situationOf } from '../situation.js';
import { stepEvents, warningsOf } from './events.js';
import { statusOf } from './status.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const later = nowMs + 60_000;

function cluster(changes: Partial<EtcdCluster['spec']> = {}, status?: EtcdClusterStatus): EtcdCluster {
  return {
    metadata: { name: 'demo', namespace: 'default', uid: 'u', generation: 1 },
    spec: { size: 3, version: '3.4.23', ...changes },
    ...(status && { status }),
  };
}

function voter(id: string, changes: Partial<MemberView> = {}): MemberView {
  const flags = {
    isLearner: false,
    isStarted: true,
    isLeader: false,
    isHealthy: true,
    isCaughtUp: false,
    isOverdue: false,
  };
  return { id, name: `demo-${id}`, version: '3.4.23', ...flags, ...changes };
}

function pod(id: string, changes: Partial<PodView> = {}): PodView {
  const name = `demo-${id}`;
  return {
    name,
    uid: id,
    phase: 'running',
    isReady: true,
    isOverdue: false,
    initialState: 'existing',
    age: 0,
    note: 'its note',
    ...changes,
  };
}

function formed(members: readonly MemberView[], pods: readonly PodView[]): EtcdObservation {
  return {
    hasPeerService: true,
    hasClientService: true,
    latchedClusterId: 'cdf818194e3a8c32',
    seedName: 'demo-seed',
    freshName: 'demo-fresh',
    pods,
    membership: { kind: 'known', clusterId: 'cdf818194e3a8c32', members },
    pause: undefined,
  };
}

const whole = formed([voter('10', { isLeader: true }), voter('11'), voter('255')], [pod('10'), pod('11'), pod('255')]);

function statusFor(object: EtcdCluster, observed: EtcdObservation, atMs = nowMs): EtcdClusterStatus {
  const desired = desiredOf(object);
  const decision = planEtcdCluster(desired, observed);
  return statusOf({ cluster: object, situation: situationOf(desired, observed), decision, nowMs: atMs });
}

function conditions(status: EtcdClusterStatus): Readonly<Record<string, string>> {
  return Object.fromEntries(status.conditions?.map(({ type, status: holds }) => [type, holds]) ?? []);
}

test('a whole cluster is Running and Available, and lists its members as etcdctl prints them', () => {
  const status = statusFor(cluster(), whole);
  assert.equal(status.phase, 'Running');
  assert.equal(status.reason, '3 members, all voting and healthy');
  assert.equal(status.leader, 'demo-10');
  assert.deepEqual(status.members, { ready: ['demo-10', 'demo-11', 'demo-255'], unready: [] });
  assert.deepEqual(
    status.memberDetails?.map(({ id, role }) => `${id} ${role}`),
    ['a leader', 'b voter', 'ff voter'],
  );
  assert.deepEqual(conditions(status), {
    Available: 'True',
    Progressing: 'False',
    Scaling: 'False',
    Recovering: 'False',
    Degraded: 'False',
    QuorumLost: 'False',
    ClusterIDMismatch: 'False',
  });
});

test('members that vote while a pod is not ready yet are not Available', () => {
  const observed = { ...whole, pods: [pod('10'), pod('11'), pod('255', { isReady: false })] };
  const status = statusFor(cluster(), observed);
  assert.equal(conditions(status).Available, 'False');
  assert.deepEqual([status.readyMembers, status.members?.unready], [2, ['demo-255']]);
  assert.match(status.reason ?? '', /pod demo-255 is not ready/);
});

test('a cluster that is forming is Creating, and not Degraded', () => {
  const status = statusFor(cluster(), formed([voter('10', { isLeader: true })], [pod('10')]));
  assert.equal(status.phase, 'Creating');
  assert.deepEqual(
    [conditions(status).Scaling, conditions(status).Degraded, conditions(status).QuorumLost],
    ['True', 'False', 'False'],
  );
});

test('a lost member makes it Recovering and Degraded, with quorum', () => {
  const observed = formed(
    [voter('10', { isLeader: true }), voter('11'), voter('12', { isHealthy: false })],
    [pod('10'), pod('11')],
  );
  const status = statusFor(cluster({}, { phase: 'Running' }), observed);
  assert.equal(status.phase, 'Running');
  const { Available, Recovering, Degraded, QuorumLost } = conditions(status);
  assert.deepEqual([Available, Recovering, Degraded, QuorumLost], ['False', 'True', 'True', 'False']);
  assert.match(status.reason ?? '', /^demo-12 is lost \(its pod is gone\)/);
});

test('quorum lost for good is Failed, and the reason says what to do', () => {
  const down = { isHealthy: false };
  const observed = formed([voter('10'), voter('11', down), voter('12', down)], [pod('10')]);
  const status = statusFor(cluster({}, { phase: 'Running' }), observed);
  assert.equal(status.phase, 'Failed');
  assert.equal(conditions(status).QuorumLost, 'True');
  assert.match(status.reason ?? '', /quorum is lost for good: .*restore the cluster from a backup/);
});

test('while no member answers, those last known stay listed as unhealthy, and the cluster ID stays', () => {
  const before = statusFor(cluster(), whole);
  const observed = { ...whole, membership: { kind: 'unknown', reason: 'none is up', learners: [] } as const };
  const status = statusFor(cluster({}, before), observed);
  assert.deepEqual(
    status.memberDetails?.map(({ id, role, isHealthy }) => `${id} ${role} ${isHealthy}`),
    ['a voter false', 'b voter false', 'ff voter false'],
  );
  assert.equal(status.clusterID, before.clusterID);
  assert.equal(status.currentVersion, '3.4.23');
});

test('a condition keeps the time of its last change, and an unchanged cluster has an unchanged status', () => {
  const before = statusFor(cluster(), whole);
  assert.deepEqual(statusFor(cluster({}, before), whole, later), before);
  const after = statusFor(cluster({ size: 5 }, before), whole, later);
  const timeOf = (type: string) => after.conditions?.find((each) => each.type === type)?.lastTransitionTime;
  assert.deepEqual([timeOf('Scaling'), timeOf('Degraded')], ['2026-01-01T12:01:00Z', '2026-01-01T12:00:00Z']);
});

test('the cluster ID is in the status of the very pass that latches it', () => {
  const seed = { ...whole, latchedClusterId: undefined, seedName: 'demo-10' };
  const alone = {
    ...seed,
    membership: { kind: 'known', clusterId: 'abc', members: [voter('10', { isLeader: true })] } as const,
  };
  assert.equal(statusFor(cluster(), alone).clusterID, 'abc');
});

test('a version that is not the one asked for is a warning, once', () => {
  const asked = cluster({ version: '3.2.13' });
  const status = statusFor(asked, whole);
  const pods = [{ metadata: { name: 'demo-10', annotations: { 'etcd.version': '3.2.13' } } }];
  const [warning] = warningsOf({ cluster: asked, status, pods });
  assert.equal(warning?.reason, 'VersionSubstituted');
  assert.match(warning?.message ?? '', /etcd 3\.4\.23 runs where 3\.2\.13 was asked for/);
  assert.deepEqual(warningsOf({ cluster: { ...asked, status }, status, pods }), []);
});

test('a version that was changed later says that running members keep theirs', () => {
  const asked = cluster({ version: '3.5.16' });
  const pods = [{ metadata: { name: 'demo-10', annotations: { 'etcd.version': '3.4.23' } } }];
  const [warning] = warningsOf({ cluster: asked, status: statusFor(asked, whole), pods });
  assert.equal(warning?.reason, 'VersionNotApplied');
});

test('an even size is a warning; a wait is no event', () => {
  const warnings = warningsOf({ cluster: cluster({ size: 4 }), status: {}, pods: [] });
  assert.deepEqual(
    warnings.map(({ type, reason, message }) => [type, reason, message]),
    [['Warning', 'EvenSize', '4 members survive no more failures than 3 do; an odd size is the better one']],
  );
  assert.deepEqual(stepEvents({ kind: 'wait', reason: 'not yet', afterMs: 1 }), []);
});

test("a step is an event under the reason that the seed's operator had for it", () => {
  const remove: EtcdStep = { kind: 'removeMember', id: '1', name: 'demo-1', isReplaced: true };
  assert.deepEqual(stepEvents({ kind: 'step', step: remove, reason: 'it is lost' }), [
    { type: 'Normal', reason: 'Replacing Dead Member', message: 'Remove demo-1 from the members: it is lost' },
  ]);
});
