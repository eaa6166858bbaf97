// Walk 7/10: decides the one next step for an etcd cluster; act.ts carries it out, and plane/scheduler binds the pods.
import { blocked, type Decision, type Planner, settled, step, wait } from '@castellan/runtime';
import type { EtcdDesired, EtcdObservation, EtcdStep, MemberView, PodView } from './observation.js';
import { quorumOf } from './observation.js';
import { isLost, type Situation, situationOf } from './situation.js';

/** How soon to look again: while something is under way, and while only a person or a new spec can change anything. */
export const lookAgainMs = { soon: 150, later: 5000 } as const;

/** One rule: what to do in a situation, or `undefined` when the rule has nothing to say about it. */
type Rule = (situation: Situation) => Ruling;
type Ruling = Decision<EtcdStep> | undefined;

/**
 * The order of decisions, as SPEC.md numbers and explains it. The first rule that has something to say decides, so each
 * may rely on what those before it have made sure of.
 */
const rules: readonly Rule[] = [
  refuseInvalidSpec,
  respectPause,
  createPeerService,
  freezeOnMismatch,
  bootstrap,
  sealSeed,
  findMembers,
  finishAddition,
  awaitQuorum,
  letClientsIn,
  deleteStrayPods,
  dropUselessLearner,
  awaitLearnerStart,
  removeLostVoter,
  promoteLearner,
  scaleIn,
  awaitVoters,
  scaleOut,
];

/** The one next step for this cluster, or why there is none. Pure; at most one disruptive step at a time. */
export function planEtcdCluster(desired: EtcdDesired, observed: EtcdObservation): Decision<EtcdStep> {
  const situation = situationOf(desired, observed);
  for (const rule of rules) {
    const decision = rule(situation);
    if (decision !== undefined) return decision;
  }
  return settled(`${memberCount(desired.size)}, all voting and healthy${sayUnready(situation)}`);
}

export const etcdPlanner: Planner<EtcdDesired, EtcdObservation, EtcdStep> = { plan: planEtcdCluster };

function refuseInvalidSpec({ desired }: Situation): Ruling {
  return desired.problem && blocked(desired.problem.reason, desired.problem.remedy);
}

function respectPause({ desired }: Situation): Ruling {
  if (!desired.isPaused) return undefined;
  return wait('spec.paused is true: nothing is changed until it is false', lookAgainMs.later);
}

/** Peers find each other by the DNS names that this service gives to pods, so it comes before the first pod. */
function createPeerService({ observed }: Situation): Ruling {
  if (observed.hasPeerService) return undefined;
  return step({ kind: 'createPeerService' }, 'members find each other by its DNS names, so it comes before any pod');
}

function freezeOnMismatch({ observed }: Situation): Ruling {
  const { membership, latchedClusterId } = observed;
  const remedy = 'find out which pods hold the right data and delete the others; nothing is changed until then';
  if (membership.kind === 'mismatch') return blocked(membership.reason, remedy);
  if (membership.kind !== 'known' || latchedClusterId === undefined) return undefined;
  if (membership.clusterId === latchedClusterId) return undefined;
  return blocked(`members say that their cluster is ${membership.clusterId}, not ${latchedClusterId}`, remedy);
}

/**
 * Until the cluster's ID is latched: one seed, started with `new`, forms a cluster of one. After that no pod is ever
 * started with `new` again: an emptied seed would form a second cluster with the same IDs. An etcd that is killed as it
 * first starts may leave a log without its own first entry; started again it runs, and never answers.
 */
function bootstrap({ observed, hasQuorum, members }: Situation): Ruling {
  if (observed.latchedClusterId !== undefined) return undefined;
  const { pods, membership, seedName } = observed;
  if (pods.length === 0) {
    return step({ kind: 'createSeed', name: seedName }, 'there is no member yet; the seed forms the cluster');
  }
  if (membership.kind === 'known' && hasQuorum) {
    const isSeedAlone = members.length === 1 && members[0]?.name === seedName;
    const isSealed = pods.every((pod) => pod.initialState === 'existing');
    if (!isSeedAlone && !isSealed) {
      const reason = 'the seed has company although its cluster ID was never recorded in status.clusterID';
      return blocked(reason, 'remove the members that were added by hand');
    }
    return step(
      { kind: 'latchCluster', clusterId: membership.clusterId },
      'the cluster has formed; its ID is recorded before anything is added to it',
    );
  }
  const isHopeless = (pod: PodView) => pod.phase === 'dead' || (pod.isOverdue && membership.kind === 'unknown');
  const hopeless = pods.find(isHopeless);
  if (hopeless === undefined || !pods.every(isHopeless)) {
    return wait(
      `the cluster is forming: ${pods.map((pod) => `${pod.name}: ${pod.note}`).join('; ')}`,
      lookAgainMs.soon,
    );
  }
  const { name, uid, note, initialState } = hopeless;
  if (initialState === 'new') {
    return step({ kind: 'discardSeed', name, uid }, `the seed did not form a cluster (${note}) and is made anew`);
  }
  return blocked(`no member is left: ${note}`, lostRemedy);
}

/**
 * Before anyone joins: from now on the seed, should it start empty, must fail and not form a second cluster. A seed that
 * does not answer is left as it is, since that it was never sealed says that nothing can be lost with it.
 */
function sealSeed({ observed: { pods, membership } }: Situation): Ruling {
  const seed = pods.find((pod) => pod.initialState === 'new');
  if (seed === undefined || membership.kind !== 'known') return undefined;
  return step(
    { kind: 'sealSeed', name: seed.name, uid: seed.uid },
    'a seed that starts empty must never form a second cluster',
  );
}

function findMembers({ observed: { membership, pods } }: Situation): Ruling {
  if (membership.kind !== 'unknown') return undefined;
  const isHopeless = (pod: PodView) => pod.phase === 'dead' || (pod.initialState === 'new' && pod.isOverdue);
  const hope = pods.find((pod) => !isHopeless(pod) && !membership.learners.includes(pod.name));
  if (hope === undefined) return blocked('every voter is gone, and with them the data', lostRemedy);
  return wait(`no member answers (${membership.reason}); ${hope.name}: ${hope.note}`, lookAgainMs.soon);
}

/**
 * An addition that was begun is finished first, without quorum too: a voter that was added and never started may be
 * what quorum lacks. It never ran, so it can have no data to lose.
 */
function finishAddition({ members, podOf, hasQuorum, areJoinedHealthy }: Situation): Ruling {
  const begun = members.find((member) => !member.isStarted && podOf(member.name) === undefined);
  if (begun === undefined) return undefined;
  if (!hasQuorum && !areJoinedHealthy) return undefined;
  const peers = members.map((member) => member.name);
  return step(
    { kind: 'createPod', name: begun.name, peers },
    `${begun.name} was added to the members and has no pod yet`,
  );
}

function awaitQuorum({ hasQuorum, healthyVoters, returningVoters, quorum, voters }: Situation): Ruling {
  if (hasQuorum) return undefined;
  const count = `${healthyVoters} of ${voters.length} voters are well, quorum is ${quorum}`;
  if (healthyVoters >= quorum) return wait(`${count}; they are electing a leader`, lookAgainMs.soon);
  if (healthyVoters + returningVoters >= quorum) {
    return wait(`${count}; waiting for pods to come back`, lookAgainMs.soon);
  }
  return blocked(`quorum is lost for good: ${count}, and too few can come back with their data`, lostRemedy);
}

/** Clients are let in only once the seed is sealed: until then nobody was promised anything. */
function letClientsIn({ observed }: Situation): Ruling {
  if (observed.hasClientService) return undefined;
  return step({ kind: 'createClientService' }, 'the cluster serves; clients reach it through this service');
}

function deleteStrayPods({ observed, members }: Situation): Ruling {
  for (const pod of observed.pods) {
    if (pod.phase === 'terminating' || members.some((member) => member.name === pod.name)) continue;
    return step(
      { kind: 'deletePod', name: pod.name, uid: pod.uid, isForced: pod.phase === 'dead' },
      `${pod.name} is not a member`,
    );
  }
  return undefined;
}

/** A learner does not vote, so removing it can cost nothing; and it holds the one place that etcd has for learners. */
function dropUselessLearner(situation: Situation): Ruling {
  const { learner, podOf } = situation;
  if (learner === undefined) return undefined;
  const why = uselessness(situation, learner);
  if (why === undefined) return undefined;
  const isReplaced = podOf(learner.name)?.phase !== 'running';
  return step({ kind: 'removeMember', id: learner.id, name: learner.name, isReplaced }, `${learner.name} ${why}`);
}

function uselessness({ desired, voters, podOf }: Situation, learner: MemberView): string | undefined {
  const pod = podOf(learner.name);
  if (pod === undefined) return 'joined, and its pod is gone with its data';
  if (pod.phase === 'dead') return `will not join: ${pod.note}`;
  if (learner.isOverdue) return 'has not caught up in the time that joining may take';
  const kept = voters.filter((voter) => !isLost(voter, podOf(voter.name))).length;
  return kept >= desired.size ? `is not needed: there are ${memberCount(kept)} without it` : undefined;
}

/** Its `--initial-cluster` must match the membership when it first starts, so nothing else changes until then. */
function awaitLearnerStart({ learner, podOf }: Situation): Ruling {
  if (learner === undefined || (learner.isStarted && learner.isHealthy)) return undefined;
  const note = podOf(learner.name)?.note ?? 'its pod is gone';
  return wait(`${learner.name} is starting as a learner: ${note}`, lookAgainMs.soon);
}

/**
 * A lost voter still counts in every quorum until it is removed; removing it never costs quorum, since those who answer
 * are a quorum of the rest too.
 */
function removeLostVoter({ voters, podOf, healthyVoters }: Situation): Ruling {
  const lost = voters.find((voter) => isLost(voter, podOf(voter.name)));
  if (lost === undefined) return undefined;
  const note = podOf(lost.name)?.note ?? 'its pod is gone';
  return step(
    { kind: 'removeMember', id: lost.id, name: lost.name, isReplaced: true },
    `${lost.name} is lost (${note}); the other ${healthyVoters} are a quorum without it`,
  );
}

/**
 * A learner becomes a voter when those who already vote would still be a quorum if it failed the next moment. Only from
 * one voter to two etcd has no such room.
 */
function promoteLearner({ learner, voters, podOf }: Situation): Ruling {
  if (learner === undefined) return undefined;
  if (!learner.isCaughtUp) {
    return wait(`${learner.name} is a learner and is copying the leader's log`, lookAgainMs.soon);
  }
  const firm = voters.filter((voter) => voter.isHealthy && podOf(voter.name)?.phase !== 'terminating').length;
  const needed = quorumOf(voters.length + 1);
  if (voters.length > 1 && firm < needed) {
    return wait(`${learner.name} may vote once ${needed} other voters are well; ${firm} are`, lookAgainMs.soon);
  }
  if (podOf(learner.name)?.phase !== 'running') {
    return wait(`${learner.name} is a learner whose pod is leaving`, lookAgainMs.soon);
  }
  return step({ kind: 'promote', id: learner.id, name: learner.name }, `${learner.name} has caught up and may vote`);
}

/** Those who are unwell first, then the newest; the leader last, and not before it has handed over. */
function scaleIn(situation: Situation): Ruling {
  const { desired, voters, healthyVoters, observed, leader } = situation;
  if (voters.length <= desired.size) return undefined;
  const [victim, ...others] = byExpendability(situation);
  if (victim === undefined) return undefined;
  const needed = quorumOf(voters.length - 1);
  const left = healthyVoters - (victim.isHealthy ? 1 : 0);
  if (left < needed) {
    return wait(
      `without ${victim.name} ${left} voters would be left well, quorum would be ${needed}`,
      lookAgainMs.soon,
    );
  }
  if (victim.isHealthy && observed.pause !== undefined) return wait(observed.pause.reason, observed.pause.forMs);
  const excess = `${memberCount(voters.length)}, ${desired.size} wanted`;
  const heir = others.findLast((member) => member.isHealthy);
  if (victim === leader && heir !== undefined) {
    return step(
      { kind: 'moveLeader', from: victim.name, id: heir.id, name: heir.name },
      `${excess}; ${victim.name} leads and hands over before it is removed`,
    );
  }
  return step(
    { kind: 'removeMember', id: victim.id, name: victim.name, isReplaced: false },
    `${excess}; ${left} of the ${voters.length - 1} that remain are well, quorum is ${needed}`,
  );
}

function byExpendability({ voters, podOf }: Situation): readonly MemberView[] {
  const rank = (voter: MemberView) => {
    if (!voter.isHealthy) return 0;
    if (podOf(voter.name)?.phase === 'terminating') return 1;
    return voter.isLeader ? 3 : 2;
  };
  const age = (voter: MemberView) => podOf(voter.name)?.age ?? 0;
  return voters.toSorted((one, other) => rank(one) - rank(other) || age(other) - age(one));
}

/** No one is added while a voter is unwell: etcd would refuse, and the unwell one may be about to need replacing. */
function awaitVoters({ voters, podOf }: Situation): Ruling {
  for (const voter of voters) {
    const pod = podOf(voter.name);
    if (voter.isHealthy && pod?.phase !== 'terminating') continue;
    const what = voter.isHealthy ? 'is leaving' : 'does not answer';
    return wait(`${voter.name} ${what}: ${pod?.note ?? 'its pod is gone'}`, lookAgainMs.soon);
  }
  return undefined;
}

function scaleOut({ desired, voters, observed }: Situation): Ruling {
  if (voters.length >= desired.size) return undefined;
  if (observed.pause !== undefined) return wait(observed.pause.reason, observed.pause.forMs);
  return step(
    { kind: 'addLearner', name: observed.freshName },
    `${memberCount(voters.length)}, ${desired.size} wanted; it joins as a learner, which costs no quorum`,
  );
}

/** Nothing is to be done about a member that votes and is not ready: its pod, or who probes it, has to be looked at. */
function sayUnready({ voters, podOf }: Situation): string {
  const unready = voters.flatMap(({ name }) => {
    const pod = podOf(name);
    if (pod?.isReady === true) return [];
    return [`; pod ${name} is not ready (${pod === undefined ? 'it is not there' : (pod.unreadyNote ?? pod.note)})`];
  });
  return unready.join('');
}

const lostRemedy =
  'restore the cluster from a backup, or delete the EtcdCluster and create it again to begin with an empty one';

function memberCount(count: number): string {
  return count === 1 ? '1 member' : `${count} members`;
}
