import type { EtcdStep } from '../observation.js';
import type { EtcdState, Slot } from './state.js';

const memberCodes = { none: 0, learner: 1, voter: 2 } as const;
const podCodes = { none: 0, starting: 1, running: 2, terminating: 3, dead: 4 } as const;
/** Below every code of a slot. */
const stepCodes = {
  createPeerService: 'a',
  createClientService: 'b',
  createSeed: 'c',
  latchCluster: 'd',
  sealSeed: 'e',
  addLearner: 'f',
  createPod: 'g',
  promote: 'h',
  moveLeader: 'i',
  removeMember: 'j',
  deletePod: 'k',
  discardSeed: 'l',
} as const satisfies Record<EtcdStep['kind'], string>;
const logCodes = { behind: 0, synced: 1, stuck: 2, overdue: 3 } as const;

/**
 * A few characters that are equal for states which differ only in the names of their members: one code per slot,
 * sorted. Which of several voters alike in all else is the newest is left out too, since they are alike. Of a step,
 * its kind counts and which slot it is about.
 */
export function fingerprint(state: EtcdState, step?: EtcdStep): string {
  const subject = step !== undefined && 'name' in step ? step.name : undefined;
  const codes = state.slots.map((slot) => codeOf(slot, slot.name === state.leader, slot.name === subject));
  codes.sort((one, other) => one - other);
  const flags =
    (state.hasPeerService ? 1 : 0) |
    (state.hasClientService ? 2 : 0) |
    (state.isLatched ? 4 : 0) |
    (state.isSettling ? 8 : 0) |
    (Math.min(state.clusters, 2) << 4);
  const key = String.fromCharCode(flags + 0x20, ...codes);
  return step === undefined ? key : key + stepCodes[step.kind];
}

/** Ten bits for what the slot is, and one each for being the leader and the step's subject. */
function codeOf(slot: Slot, isLeader: boolean, isSubject: boolean): number {
  const enums = (memberCodes[slot.member] * 5 + podCodes[slot.pod]) * 4 + logCodes[slot.log];
  const bits =
    (slot.isStarted ? 1 : 0) |
    (slot.isNew ? 2 : 0) |
    (slot.hasData ? 4 : 0) |
    (slot.isOutdated ? 8 : 0) |
    (isLeader ? 16 : 0) |
    (isSubject ? 32 : 0);
  return 0x100 + enums * 64 + bits;
}
