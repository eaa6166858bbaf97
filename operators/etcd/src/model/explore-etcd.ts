import { type Exploration, explore, type Planner } from '@castellan/runtime';
import type { EtcdDesired, EtcdObservation, EtcdStep } from '../observation.js';
import { etcdPlanner } from '../plan.js';
import { invariants } from './invariants.js';
import { etcdModel } from './model.js';
import { isBeyondRepair } from './state.js';

export interface ExploreEtcdOptions {
  /** The `spec.size` to plan for. */
  readonly size: number;
  /** Members and pods in the states to start from; none but the empty cluster for 0. */
  readonly startSlots: number;
  readonly faults: number;
  readonly staleness: number;
  /** Whether etcd's own checks, and ours before a seed, are there to catch a stale decision; true by default. */
  readonly isGuarded?: boolean;
  readonly maxStates?: number;
  /** Another planner than ours, to see that its errors are found. */
  readonly planner?: Planner<EtcdDesired, EtcdObservation, EtcdStep>;
}

/** Explores every state that the etcd planner can get a cluster into; see `explore`. */
export function exploreEtcd(options: ExploreEtcdOptions): Exploration {
  const { size, startSlots, faults, staleness, isGuarded = true, maxStates = 20_000_000 } = options;
  const model = etcdModel({ isGuarded, nameOf: (serial) => `m${serial}` });
  const desired = { name: 'm', size, isPaused: false };
  return explore({
    planner: options.planner ?? etcdPlanner,
    model,
    desired,
    starts: model.starts(startSlots),
    invariants,
    faults,
    staleness,
    maxStates,
    isGoal: (state) => model.isGoal(state, desired),
    isBeyondRepair,
  });
}
