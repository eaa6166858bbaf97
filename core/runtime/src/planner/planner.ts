import type { Decision } from '../decision.js';

/**
 * An operator's heart. `observe` reads the world and says what is missing or unknown instead of guessing; `plan` is pure
 * and holds every `if`; `act` makes one idempotent write and decides nothing.
 */
export interface Planner<Desired, Observation, Step> {
  plan(desired: Desired, observation: Observation): Decision<Step>;
}

/**
 * How an engine's world moves, for forecasts and exploration. States are plain values, compared by `fingerprint`.
 * A State is the truth; `observe` derives from it what the operator would see (stale observations are earlier results).
 */
export interface Model<Desired, State, Observation, Step> {
  observe(state: State, desired: Desired): Observation;
  /**
   * The states that carrying out `step` may lead to: the write made in full, and each prefix of it after which the
   * operator may be stopped (crash between two writes). The first one is the write made in full.
   */
  apply(state: State, step: Step, desired: Desired): readonly State[];
  /** What the world does by itself when nothing goes wrong: a pod becomes ready, a learner catches up, time passes. */
  progress(state: State): readonly WorldMove<State>[];
  /** What may go wrong; each use costs one of the bound's faults. */
  faults(state: State): readonly WorldMove<State>[];
  /**
   * Equal for states that behave alike, which is best when the names of members do not matter: then states that differ
   * only in who is who are explored once. With a step, for pairs of a state and a step decided earlier (the name of the
   * member that the step is about does matter then).
   */
  fingerprint(state: State, step?: Step): string;
  /** The state on one line, for traces and forecasts. */
  describe?(state: State): string;
  /** The step as people would say it; its JSON when absent. */
  describeStep?(step: Step): string;
}

export interface WorldMove<State> {
  readonly name: string;
  readonly state: State;
}

export interface Invariant<Desired, State, Step> {
  /** As numbered in the engine's SPEC.md. */
  readonly name: string;
  /** Why `after` breaks the invariant, or `undefined` when it holds. `step` is set when our step led there. */
  violation(move: {
    readonly before: State;
    readonly after: State;
    readonly step?: Step;
    /** How many moves before `before` the observation was made that `step` was decided on; 0 is fresh. */
    readonly age: number;
    readonly desired: Desired;
  }): string | undefined;
}
