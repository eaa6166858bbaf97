import type { EtcdDesired, EtcdObservation, MemberView, PodView } from './observation.js';
import { quorumOf } from './observation.js';

/** An observation and what follows from it, so that each rule of the plan reads as one sentence. */
export interface Situation {
  readonly desired: EtcdDesired;
  readonly observed: EtcdObservation;
  readonly members: readonly MemberView[];
  readonly voters: readonly MemberView[];
  /** etcd allows one at a time. */
  readonly learner: MemberView | undefined;
  readonly leader: MemberView | undefined;
  readonly healthyVoters: number;
  /** Voters that do not answer, and may do so again without our help. */
  readonly returningVoters: number;
  /** Of the voters as they are now. */
  readonly quorum: number;
  readonly hasQuorum: boolean;
  /** All that ever joined answer: then one who never did has certainly never voted, nor held any data. */
  readonly areJoinedHealthy: boolean;
  podOf(name: string): PodView | undefined;
}

export function situationOf(desired: EtcdDesired, observed: EtcdObservation): Situation {
  const members = observed.membership.kind === 'known' ? observed.membership.members : [];
  const voters = members.filter((member) => !member.isLearner);
  const leader = members.find((member) => member.isLeader);
  const podOf = (name: string) => observed.pods.find((pod) => pod.name === name);
  const areJoinedHealthy = members.every((member) => member.isHealthy || !member.isStarted);
  let healthyVoters = 0;
  let returningVoters = 0;
  for (const voter of voters) {
    if (voter.isHealthy) healthyVoters++;
    else if (isReturning(voter, podOf(voter.name), areJoinedHealthy)) returningVoters++;
  }
  const quorum = quorumOf(voters.length);
  const hasQuorum = healthyVoters >= quorum && leader !== undefined;
  return {
    desired,
    observed,
    members,
    voters,
    learner: members.find((member) => member.isLearner),
    leader,
    healthyVoters,
    returningVoters,
    quorum,
    hasQuorum,
    areJoinedHealthy,
    podOf,
  };
}

/**
 * A voter that is not up now and may be again, with its data; a terminating pod takes its data with it. One that never
 * joined has none, and gets another pod.
 */
function isReturning(voter: MemberView, pod: PodView | undefined, areJoinedHealthy: boolean): boolean {
  if (pod?.phase === 'starting' || pod?.phase === 'running') return true;
  return !voter.isStarted && areJoinedHealthy && pod?.phase !== 'dead';
}

/** A voter that will never answer again with the data it had. */
export function isLost(voter: MemberView, pod: PodView | undefined): boolean {
  if (voter.isHealthy) return false;
  return pod === undefined ? voter.isStarted : pod.phase === 'dead';
}
