import { type EtcdState, emptyState, hasQuorum, isUp, type Slot } from './state.js';

const healthyVoter: Slot = {
  name: '',
  member: 'voter',
  isStarted: true,
  pod: 'running',
  isNew: false,
  hasData: true,
  log: 'behind',
  isOutdated: false,
};
const freshLearner: Slot = { ...healthyVoter, member: 'learner', isStarted: false, pod: 'none', hasData: false };

/** What each member, or pod without a member, of a cluster may be like when the operator first sees it. */
const kinds: readonly Slot[] = [
  healthyVoter,
  { ...healthyVoter, pod: 'starting' },
  { ...healthyVoter, pod: 'starting', hasData: false },
  { ...healthyVoter, pod: 'terminating' },
  { ...healthyVoter, pod: 'none', hasData: false },
  // Added by hand, or by an operator that was stopped, and never started.
  { ...freshLearner, member: 'voter' },
  freshLearner,
  { ...freshLearner, pod: 'starting' },
  { ...freshLearner, pod: 'running', hasData: true, isStarted: true },
  { ...freshLearner, isStarted: true },
  // A pod whose member was removed.
  { ...healthyVoter, member: 'none', isStarted: false, pod: 'starting' },
];

/** The empty cluster, and every cluster of at most `slots` members and stray pods that was once formed and latched. */
export function startStates(slots: number): readonly EtcdState[] {
  const states: EtcdState[] = [emptyState];
  const grow = (chosen: readonly Slot[], from: number): void => {
    if (chosen.length > 0) states.push(...latched(chosen));
    if (chosen.length === slots) return;
    for (const [index, kind] of kinds.entries()) {
      if (index < from) continue;
      const isPending = kind.member !== 'none' && (kind.member === 'learner' || !kind.isStarted);
      // etcd has room for one that is still joining.
      if (isPending && chosen.some((slot) => slot.member === 'learner' || (slot.member === 'voter' && !slot.isStarted)))
        continue;
      grow([...chosen, kind], index);
    }
  };
  grow([], 0);
  return states;
}

/** The same members with each of those leading that might. Some voter must have formed the cluster. */
function latched(chosen: readonly Slot[]): readonly EtcdState[] {
  if (!chosen.some((slot) => slot.member === 'voter' && slot.isStarted)) return [];
  const slots = chosen.map((slot, index) => ({ ...slot, name: `m${index}` }));
  const state: EtcdState = {
    ...emptyState,
    hasPeerService: true,
    hasClientService: true,
    isLatched: true,
    clusters: 1,
    slots,
    serial: slots.length,
  };
  if (!hasQuorum(state)) return [state];
  return slots.filter((slot) => slot.member === 'voter' && isUp(slot)).map((slot) => ({ ...state, leader: slot.name }));
}
