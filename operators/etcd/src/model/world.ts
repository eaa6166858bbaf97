import type { WorldMove } from '@castellan/runtime';
import { type EtcdState, hasQuorum, isCutShort, isUp, type Slot } from './state.js';

type Move = WorldMove<EtcdState>;

/** What happens by itself when nothing goes wrong, the likeliest first. None of it can go on for ever. */
export function progress(state: EtcdState): readonly Move[] {
  const moves: Move[] = [];
  const canElect = state.leader === undefined && hasQuorum(state);
  for (const slot of state.slots) {
    if (canElect && slot.member === 'voter' && isUp(slot)) {
      moves.push({ name: `${slot.name} is elected`, state: lead(state, slot.name) });
    }
    if (slot.pod === 'starting') moves.push(start(state, slot));
    if (slot.pod === 'terminating') moves.push({ name: `${slot.name}'s pod is gone`, state: withoutPod(state, slot) });
    if (slot.pod === 'running' && isCutShort(slot) && slot.log === 'stuck') {
      const overdue = withSlot(state, slot, { log: 'overdue' });
      moves.push({ name: `${slot.name}'s time to answer is over`, state: overdue });
    }
    if (slot.member !== 'learner' || !isUp(slot)) continue;
    if (slot.log === 'behind' && state.leader !== undefined) {
      moves.push({ name: `${slot.name} catches up`, state: withSlot(state, slot, { log: 'synced' }) });
    }
    if (slot.log === 'stuck') {
      moves.push({ name: `${slot.name}'s time to join is over`, state: withSlot(state, slot, { log: 'overdue' }) });
    }
  }
  if (state.isSettling) moves.push({ name: 'five seconds pass', state: { ...state, isSettling: false } });
  return moves;
}

/** What may go wrong at any moment. */
export function faults(state: EtcdState): readonly Move[] {
  const moves: Move[] = [];
  for (const slot of state.slots) {
    if (slot.pod === 'none') continue;
    const { name } = slot;
    moves.push({ name: `${name}'s pod vanishes with its data`, state: withoutPod(state, slot) });
    if (slot.pod === 'dead') continue;
    if (slot.pod === 'starting' && slot.isNew && !slot.hasData) {
      const cut = withSlot(state, slot, { hasData: true, log: 'stuck' });
      moves.push({ name: `${name} is killed as it first starts`, state: cut });
    }
    if (slot.pod !== 'terminating') {
      moves.push({
        name: `${name}'s pod is being deleted`,
        state: withoutDeposedLeader(withSlot(state, slot, { pod: 'terminating' })),
      });
    }
    if (slot.pod === 'running') {
      moves.push({ name: `${name} crashes`, state: withoutDeposedLeader(withSlot(state, slot, { pod: 'starting' })) });
    }
    if (slot.hasData && slot.pod !== 'terminating') {
      const wiped = withSlot(state, slot, { pod: 'starting', hasData: false, log: 'behind' });
      moves.push({ name: `${name} loses its data and restarts`, state: withoutDeposedLeader(wiped) });
    }
    if (slot.member === 'learner' && slot.log === 'behind') {
      moves.push({ name: `${name} will never catch up`, state: withSlot(state, slot, { log: 'stuck' }) });
    }
  }
  return moves;
}

/** A new leader has yet to hear from a learner how far its log has come. */
export function lead(state: EtcdState, name: string): EtcdState {
  const slots = state.slots.map((slot) => (slot.log === 'synced' ? { ...slot, log: 'behind' as const } : slot));
  return { ...state, leader: name, slots };
}

/** The container starts; what becomes of it depends on its data directory and, if that is empty, on its flags. */
function start(state: EtcdState, slot: Slot): Move {
  const name = `${slot.name} starts`;
  if (slot.hasData) {
    if (isCutShort(slot)) return { name, state: withSlot(state, slot, { pod: 'running', log: 'stuck' }) };
    // A removed member learns of its removal and exits, again and again.
    if (slot.member === 'none') return { name, state: withSlot(state, slot, { pod: 'dead' }) };
    const back = withSlot(state, slot, { pod: 'running' });
    return { name, state: { ...back, isSettling: state.isSettling || slot.member === 'voter' } };
  }
  if (slot.isNew) return { name: `${slot.name} forms a cluster`, state: form(state, slot) };
  const canJoin = slot.member !== 'none' && !slot.isStarted && !slot.isOutdated;
  if (!canJoin) return { name: `${slot.name} cannot start`, state: withSlot(state, slot, { pod: 'dead' }) };
  const joined = withSlot(state, slot, { pod: 'running', hasData: true, isStarted: true });
  return {
    name: `${slot.name} joins`,
    state: { ...joined, isSettling: state.isSettling || slot.member === 'voter' },
  };
}

/**
 * Started empty with `new`. Doing so again is harmless only while the seed is alone and no client was let in; else it
 * is a second cluster, which even has the IDs of the first.
 */
function form(state: EtcdState, slot: Slot): EtcdState {
  const matters = state.hasClientService || state.slots.some((other) => other !== slot && other.member !== 'none');
  const formed = withSlot(state, slot, { pod: 'running', hasData: true, member: 'voter', isStarted: true });
  return { ...formed, clusters: matters || state.clusters === 0 ? state.clusters + 1 : state.clusters };
}

/** A pod is gone, and with it its volume. */
export function withoutPod(state: EtcdState, slot: Slot): EtcdState {
  const gone = withSlot(state, slot, { pod: 'none', hasData: false, isNew: false, isOutdated: false });
  // The membership is what members hold: it is gone with the last of them. Once latched, the operator remembers it.
  const isForgotten = !state.isLatched && !gone.slots.some((other) => other.hasData);
  const slots = isForgotten ? gone.slots.map((other) => ({ ...other, member: 'none' as const })) : gone.slots;
  return withoutDeposedLeader({
    ...gone,
    slots: slots.filter((other) => other.member !== 'none' || other.pod !== 'none'),
  });
}

/** The leader steps down when it is no longer up, votes no more, or has no quorum behind it. */
export function withoutDeposedLeader(state: EtcdState): EtcdState {
  if (state.leader === undefined) return state;
  const leader = state.slots.find((slot) => slot.name === state.leader);
  const canLead = leader?.member === 'voter' && isUp(leader) && hasQuorum(state);
  return canLead ? state : { ...state, leader: undefined };
}

export function withSlot(state: EtcdState, slot: Slot, changes: Partial<Slot>): EtcdState {
  return { ...state, slots: state.slots.map((other) => (other === slot ? { ...slot, ...changes } : other)) };
}
