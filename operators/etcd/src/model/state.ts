import { quorumOf } from '../observation.js';

/** The truth about one etcd cluster, as far as decisions and their consequences depend on it. */
export interface EtcdState {
  readonly hasPeerService: boolean;
  readonly hasClientService: boolean;
  /** Whether `status.clusterID` is set. */
  readonly isLatched: boolean;
  /** How many clusters came into being while an earlier one mattered to anyone; more than one is the great harm. */
  readonly clusters: number;
  /** Members and pods, each known by its name: either may be there without the other. */
  readonly slots: readonly Slot[];
  /** The name of the leader, which is a running voter; absent without quorum and between elections. */
  readonly leader: string | undefined;
  /** Less than five seconds since a voter connected: etcd refuses to add, or to remove a running member. */
  readonly isSettling: boolean;
  /** How many names were given out. */
  readonly serial: number;
}

export interface Slot {
  readonly name: string;
  readonly member: 'none' | 'learner' | 'voter';
  /** It joined once, so etcd knows it by name and expects it to have its log. */
  readonly isStarted: boolean;
  readonly pod: 'none' | 'starting' | 'running' | 'terminating' | 'dead';
  /** The pod's annotation says `new`, which is what its container would start with. */
  readonly isNew: boolean;
  /** The pod's volume holds a data directory. */
  readonly hasData: boolean;
  /** How far a learner's log has come; `stuck` ones will never be `synced`, nor will a seed that was cut short. */
  readonly log: 'behind' | 'synced' | 'stuck' | 'overdue';
  /** Membership changed since the pod was made: its `--initial-cluster` no longer matches, should it start empty. */
  readonly isOutdated: boolean;
}

/** Nothing but the EtcdCluster itself. */
export const emptyState: EtcdState = {
  hasPeerService: false,
  hasClientService: false,
  isLatched: false,
  clusters: 0,
  slots: [],
  leader: undefined,
  isSettling: false,
  serial: 0,
};

/** A member's process answers while its pod is terminating too. */
export function isUp(slot: Slot): boolean {
  return slot.hasData && (slot.pod === 'running' || slot.pod === 'terminating');
}

export function isMemberUp(slot: Slot): boolean {
  return slot.member !== 'none' && isUp(slot);
}

/** A seed that was killed as it first started: its log lacks its own first entry, and it will never answer. */
export function isCutShort(slot: Slot): boolean {
  return slot.isNew && slot.hasData && slot.member === 'none';
}

function votersOf(state: EtcdState): readonly Slot[] {
  return state.slots.filter((slot) => slot.member === 'voter');
}

export interface QuorumCount {
  readonly voters: number;
  readonly up: number;
  readonly needed: number;
}

export function quorumIn(state: EtcdState): QuorumCount {
  let voters = 0;
  let up = 0;
  for (const slot of state.slots) {
    if (slot.member !== 'voter') continue;
    voters++;
    if (isUp(slot)) up++;
  }
  return { voters, up, needed: quorumOf(voters) };
}

/** Enough voters are up to agree on something. A cluster that was never formed has none. */
export function hasQuorum(state: EtcdState): boolean {
  const { voters, up, needed } = quorumIn(state);
  return voters > 0 && up >= needed;
}

/** All voters vote, are up, and there are as many as wanted; nothing is left over. */
export function isGoal(state: EtcdState, size: number): boolean {
  return (
    state.hasPeerService &&
    state.hasClientService &&
    state.isLatched &&
    state.leader !== undefined &&
    state.slots.length === size &&
    state.slots.every((slot) => slot.member === 'voter' && slot.pod === 'running' && slot.hasData && !slot.isNew)
  );
}

/**
 * Too few voters can ever be up again with the data they had: only a person, with a backup, can help. A voter that never
 * started has no data to lose, but that is known for certain only while all the others are there to say so.
 */
export function isBeyondRepair(state: EtcdState): boolean {
  if (!state.isLatched) return false;
  const voters = votersOf(state);
  const started = voters.filter((slot) => slot.isStarted);
  const alive = started.filter((slot) => slot.hasData && slot.pod !== 'none' && slot.pod !== 'dead').length;
  const mayJoin = voters.filter((slot) => !slot.isStarted && !slot.isOutdated && slot.pod !== 'dead').length;
  const canVote = alive + (alive === started.length ? mayJoin : 0);
  return canVote < quorumOf(voters.length);
}
