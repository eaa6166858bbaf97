import type { EtcdObservation, MemberView, PodView } from '../observation.js';
import type { EtcdState, Slot } from './state.js';

/** The state that an observation stands for, taken to be true; what it leaves open is taken to be as it usually is. */
export function assume(observed: EtcdObservation): EtcdState {
  const { membership, pods } = observed;
  const members = membership.kind === 'known' ? membership.members : [];
  const strays = pods.filter(({ name }) => !members.some((member) => member.name === name));
  const podOf = (name: string) => pods.find((pod) => pod.name === name);
  const slots = [
    ...members.map((member) => memberSlot(member, podOf(member.name))),
    ...strays.map((pod) => slotOf('none', pod.name, pod)),
  ];
  const isLatched = observed.latchedClusterId !== undefined;
  return {
    hasPeerService: observed.hasPeerService,
    hasClientService: observed.hasClientService,
    isLatched,
    clusters: isLatched ? 1 : 0,
    slots,
    leader: members.find(({ isLeader }) => isLeader)?.name,
    isSettling: observed.pause !== undefined,
    serial: slots.length,
  };
}

function memberSlot(member: MemberView, pod: PodView | undefined): Slot {
  if (!member.isLearner) return slotOf('voter', member.name, pod);
  // A learner that does not answer has probably not joined yet.
  const slot = slotOf('learner', member.name, pod);
  return { ...slot, isStarted: member.isHealthy, hasData: slot.hasData && member.isHealthy };
}

function slotOf(member: Slot['member'], name: string, pod: PodView | undefined): Slot {
  return {
    name,
    member,
    isStarted: member !== 'none',
    pod: pod?.phase ?? 'none',
    isNew: pod?.initialState === 'new',
    hasData: pod !== undefined && pod.phase !== 'dead',
    log: 'behind',
    isOutdated: false,
  };
}
