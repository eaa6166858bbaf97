import type { EtcdStep } from '../observation.js';
import { type EtcdState, isMemberUp, isUp, quorumIn, type Slot } from './state.js';
import { lead, withoutDeposedLeader, withoutPod, withSlot } from './world.js';

export interface ApplyOptions {
  /**
   * Whether that is modelled which catches decisions that have become stale: etcd's own check of membership changes
   * (`--strict-reconfig-check`, on by default), and the last look of `act` before it makes or discards a seed. Without it,
   * exploration shows that the planner is safe by itself, as long as what it observes is fresh.
   */
  readonly isGuarded: boolean;
}

/** The state after a step, as the API server and etcd carry it out; unchanged where they refuse. */
export function apply(state: EtcdState, step: EtcdStep, options: ApplyOptions): EtcdState {
  const find = (name: string) => state.slots.find((slot) => slot.name === name);
  switch (step.kind) {
    case 'createPeerService':
      return { ...state, hasPeerService: true };
    case 'createClientService':
      return { ...state, hasClientService: true };
    case 'latchCluster':
      return { ...state, isLatched: true };
    case 'createSeed':
      if ((find(step.name)?.pod ?? 'none') !== 'none' || (options.isGuarded && state.isLatched)) return state;
      return createPod(state, step.name, true);
    case 'discardSeed': {
      const slot = find(step.name);
      if (slot === undefined || slot.pod === 'none') return state;
      return options.isGuarded && (state.isLatched || isMemberUp(slot)) ? state : withoutPod(state, slot);
    }
    case 'createPod':
      return find(step.name)?.pod === 'none' ? createPod(state, step.name, false) : state;
    case 'sealSeed': {
      const slot = find(step.name);
      return slot === undefined ? state : withSlot(state, slot, { isNew: false });
    }
    case 'deletePod': {
      const slot = find(step.name);
      return slot === undefined || slot.pod === 'none' ? state : deletePod(state, slot, step.isForced);
    }
    case 'addLearner':
      return addLearner(state, step.name, options);
    case 'promote':
      return promote(state, find(step.name));
    case 'removeMember':
      return removeMember(state, find(step.name), options);
    case 'moveLeader': {
      const heir = find(step.name);
      const canLead = state.leader === step.from && heir !== undefined && heir.member === 'voter' && isUp(heir);
      return canLead ? lead(state, step.name) : state;
    }
  }
}

function createPod(state: EtcdState, name: string, isNew: boolean): EtcdState {
  const slot = state.slots.find((other) => other.name === name);
  if (slot !== undefined) return withSlot(state, slot, { pod: 'starting', isNew, isOutdated: false });
  const created: Slot = {
    name,
    member: 'none',
    isStarted: false,
    pod: 'starting',
    isNew,
    hasData: false,
    log: 'behind',
    isOutdated: false,
  };
  return { ...state, slots: [...state.slots, created], serial: state.serial + 1 };
}

function deletePod(state: EtcdState, slot: Slot, isForced: boolean): EtcdState {
  const isGraceful = slot.pod === 'running' && !isForced;
  return isGraceful ? withoutDeposedLeader(withSlot(state, slot, { pod: 'terminating' })) : withoutPod(state, slot);
}

/** etcd takes one learner at a time, and none until every voter has been connected for five seconds. */
function addLearner(state: EtcdState, name: string, { isGuarded }: ApplyOptions): EtcdState {
  const { voters, up } = quorumIn(state);
  const hasLearner = state.slots.some((slot) => slot.member === 'learner');
  if (state.leader === undefined) return state;
  if (isGuarded && (hasLearner || up < voters || state.isSettling)) return state;
  const isTaken = state.slots.some((slot) => slot.name === name);
  const added: Slot = {
    name: isTaken ? `m${state.serial}` : name,
    member: 'learner',
    isStarted: false,
    pod: 'none',
    isNew: false,
    hasData: false,
    log: 'behind',
    isOutdated: false,
  };
  return { ...outdatePods(state), slots: [...outdatePods(state).slots, added], serial: state.serial + 1 };
}

/** etcd asks only how far the learner's log has come, not whether the learner is up. */
function promote(state: EtcdState, slot: Slot | undefined): EtcdState {
  if (slot?.member !== 'learner' || slot.log !== 'synced' || state.leader === undefined) return state;
  return withoutDeposedLeader({ ...withSlot(state, slot, { member: 'voter', log: 'behind' }), isSettling: true });
}

/** Removing a member that is down is always allowed; one that is up, while enough others have been up for a while. */
function removeMember(state: EtcdState, slot: Slot | undefined, { isGuarded }: ApplyOptions): EtcdState {
  if (slot === undefined || slot.member === 'none' || state.leader === undefined) return state;
  const { voters, up } = quorumIn(state);
  if (isGuarded && slot.member === 'voter' && isUp(slot)) {
    if (state.isSettling || up - 1 < 1 + Math.floor((voters - 1) / 2)) return state;
  }
  const gone =
    slot.pod === 'none'
      ? { ...state, slots: state.slots.filter((other) => other !== slot) }
      : withSlot(state, slot, {
          member: 'none',
          isStarted: false,
          pod: slot.pod === 'running' ? 'starting' : slot.pod,
        });
  return withoutDeposedLeader(outdatePods(gone));
}

/** A pod that has not joined yet was told of other members than there are now. */
function outdatePods(state: EtcdState): EtcdState {
  if (!state.slots.some((slot) => slot.pod !== 'none' && !slot.hasData && !slot.isNew && !slot.isOutdated))
    return state;
  const slots = state.slots.map((slot) =>
    slot.pod !== 'none' && !slot.hasData && !slot.isNew ? { ...slot, isOutdated: true } : slot,
  );
  return { ...state, slots };
}
