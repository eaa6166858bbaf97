import type { PlannerModel } from '@castellan/runtime';
import type { EtcdDesired, EtcdObservation, EtcdStep, MemberView, PodView } from '../observation.js';
import { sayStep } from '../report/say-step.js';
import { type ApplyOptions, apply } from './apply.js';
import { assume } from './assume.js';
import { fingerprint } from './fingerprint.js';
import { startStates } from './starts.js';
import { type EtcdState, isBeyondRepair, isCutShort, isGoal, isUp, quorumIn } from './state.js';
import { faults, progress } from './world.js';

export interface EtcdModelOptions extends Partial<ApplyOptions> {
  /** The name of the n-th member to be made, from 0 for the seed; `CLUSTER-1` and so on by default. */
  readonly nameOf?: (serial: number, desired: EtcdDesired) => string;
}

export type EtcdModel = PlannerModel<EtcdDesired, EtcdState, EtcdObservation, EtcdStep>;

/** How an etcd cluster and its pods behave, for forecasts and for exploration. */
export function etcdModel(options: EtcdModelOptions = {}): EtcdModel {
  const { isGuarded = true, nameOf = (serial, { name }) => `${name}-${serial + 1}` } = options;
  return {
    desires: (members) => Array.from({ length: members }, (_, index) => desire(index + 1)),
    starts: startStates,
    isGoal: (state, { size }) => isGoal(state, size),
    isBeyondRepair,
    assume,
    observe: (state, desired) => observe(state, (serial) => nameOf(serial, desired)),
    // Each step is one write, so stopping in the middle of one is stopping before or after it.
    apply: (state, step) => [apply(state, step, { isGuarded })],
    progress,
    faults,
    fingerprint,
    describe,
    describeStep: sayStep,
  };
}

function desire(size: number): EtcdDesired {
  return { name: 'm', size, isPaused: false };
}

const theCluster = 'the cluster';

function observe(state: EtcdState, nameOf: (serial: number) => string): EtcdObservation {
  const pods: PodView[] = [];
  const members: MemberView[] = [];
  const learners: string[] = [];
  let doesAnyAnswer = false;
  for (const [index, slot] of state.slots.entries()) {
    if (slot.pod !== 'none') {
      const initialState = slot.isNew ? 'new' : 'existing';
      const { name, pod: phase } = slot;
      const isReady = phase === 'running';
      const isOverdue = isCutShort(slot) && slot.log === 'overdue';
      pods.push({ name, uid: name, phase, isReady, initialState, isOverdue, age: index, note: notes[phase] });
    }
    if (slot.member === 'none') continue;
    const isLearner = slot.member === 'learner';
    // A learner does not answer when asked for the members.
    if (isUp(slot) && isLearner) learners.push(slot.name);
    if (isUp(slot) && !isLearner) doesAnyAnswer = true;
    members.push({
      id: slot.name,
      name: slot.name,
      isLearner,
      isStarted: slot.isStarted,
      isLeader: slot.name === state.leader,
      isHealthy: isUp(slot),
      isCaughtUp: slot.log === 'synced',
      isOverdue: slot.log === 'overdue',
      version: undefined,
    });
  }
  return {
    hasPeerService: state.hasPeerService,
    hasClientService: state.hasClientService,
    latchedClusterId: state.isLatched ? theCluster : undefined,
    seedName: nameOf(0),
    freshName: nameOf(state.serial),
    pods,
    membership: doesAnyAnswer
      ? { kind: 'known', clusterId: theCluster, members }
      : { kind: 'unknown', reason: 'none is up', learners },
    pause: state.isSettling ? settling : undefined,
  };
}

const notes = {
  starting: 'its pod is being set up',
  running: 'etcd runs and does not answer yet',
  terminating: 'its pod is being deleted',
  dead: 'etcd exits as soon as it starts',
} as const;

const settling = { reason: 'etcd allows no change until all voters have been connected for 5 s', forMs: 5000 };

function describe(state: EtcdState): string {
  const { voters, up, needed } = quorumIn(state);
  const slots = state.slots.map((slot) => {
    const role = slot.name === state.leader ? 'leader' : slot.member === 'none' ? 'no member' : slot.member;
    const marks = [
      slot.pod === 'none' ? 'no pod' : slot.pod,
      slot.isNew ? 'new' : '',
      slot.hasData || slot.pod === 'none' ? '' : 'empty',
      slot.isStarted || slot.member === 'none' ? '' : 'never started',
      slot.member === 'learner' ? slot.log : '',
      isCutShort(slot) ? 'cut short' : '',
      slot.isOutdated && !slot.hasData ? 'outdated' : '',
    ].filter((mark) => mark !== '');
    return `${slot.name} ${role} (${marks.join(', ')})`;
  });
  const flags = [
    state.hasPeerService ? '' : 'no peer service',
    state.hasClientService ? '' : 'no client service',
    state.isLatched ? '' : 'not latched',
    state.isSettling ? 'settling' : '',
    state.clusters > 1 ? `${state.clusters} CLUSTERS` : '',
  ].filter((flag) => flag !== '');
  return [`${up}/${voters} voters up, quorum ${needed}`, ...slots, ...flags].join('; ');
}
