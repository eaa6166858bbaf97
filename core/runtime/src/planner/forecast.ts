import type { Decision } from '../decision.js';
import type { Model, Planner } from './planner.js';

export interface ForecastOptions<Desired, State, Observation, Step> {
  readonly planner: Planner<Desired, Observation, Step>;
  readonly model: Model<Desired, State, Observation, Step>;
  readonly desired: Desired;
  readonly state: State;
  /** Steps and world moves after which the forecast gives up; 1000 by default. */
  readonly limit?: number;
}

/** What a planner would do if nothing went wrong, and how it would end. */
export interface Forecast<State, Step> {
  readonly entries: readonly ForecastEntry<State, Step>[];
  /** `settled` or `blocked`; `wait` when nothing in the model can end the wait or the limit was reached. */
  readonly end: Decision<Step>;
  readonly state: State;
}

export interface ForecastEntry<State, Step> {
  /** From 1. */
  readonly number: number;
  readonly step: Step;
  readonly reason: string;
  readonly before: State;
  readonly after: State;
  /** Why the planner would wait after this step, in order, each reason once. */
  readonly thenWaits: readonly string[];
}

/**
 * Folds the planner over the model until it settles or is blocked: what `castellan plan` prints before a change. The
 * world makes the first of its enabled moves whenever the planner waits.
 */
export function forecast<Desired, State, Observation, Step>(
  options: ForecastOptions<Desired, State, Observation, Step>,
): Forecast<State, Step> {
  const { planner, model, desired, limit = 1000 } = options;
  const entries: ForecastEntry<State, Step>[] = [];
  let waits: string[] = [];
  let state = options.state;
  let decision = planner.plan(desired, model.observe(state, desired));
  for (let moves = 0; moves < limit; moves++) {
    if (decision.kind === 'settled' || decision.kind === 'blocked') break;
    if (decision.kind === 'step') {
      const after = model.apply(state, decision.step, desired)[0] ?? state;
      waits = [];
      const number = entries.length + 1;
      entries.push({ number, step: decision.step, reason: decision.reason, before: state, after, thenWaits: waits });
      state = after;
    } else {
      if (!waits.includes(decision.reason)) waits.push(decision.reason);
      const next = model.progress(state)[0];
      if (next === undefined) break;
      state = next.state;
    }
    decision = planner.plan(desired, model.observe(state, desired));
  }
  return { entries, end: decision, state };
}
