import type { KubernetesObject } from '@castellan/machinery';
import type { Controller } from '../controller.js';
import { type Exploration, explore, type Violation } from './explore.js';
import { type Forecast, forecast } from './forecast.js';
import type { Planner } from './planner.js';
import { plannerController } from './planner-controller.js';
import type { PlannerDefinition, PlannerModel } from './planner-definition.js';

/** What follows from a `PlannerDefinition`, with no further code. */
export interface DefinedPlanner<T extends KubernetesObject, Desired, Observation, Step, State>
  extends Planner<Desired, Observation, Step> {
  readonly name: string;
  /** For a manager, a plane, or the testkit. */
  readonly controller: Controller<T>;
  desired(object: T): Desired;
  /**
   * What would be done, step by step, if nothing went wrong: from what was observed, or from nothing.
   * @throws TypeError without a model, and with an observation where the model has no `assume`.
   */
  forecast(desired: Desired, observation?: Observation): Forecast<State, Step>;
  /**
   * Every state that planner, world and faults can reach from every start, for everything that may be asked for, within a
   * bound; see `explore`.
   * @throws TypeError without a model.
   */
  explore(options: ExplorationBound<Desired>): PlannerExploration<Desired>;
}

export interface ExplorationBound<Desired> {
  /** As the model's `desires` and `starts` take it: a number of members, say. */
  readonly bound: number;
  /** How many faults may happen on one path. */
  readonly faults: number;
  /** How many moves old an observation may be; 1 by default: the operator's own last write is not in it yet. */
  readonly staleness?: number;
  /** For each of the desires; exploration stops there and says so. 1,000,000 by default. */
  readonly maxStates?: number;
  /** Only this one is asked for. */
  readonly desired?: Desired;
}

export interface PlannerExploration<Desired> extends Exploration {
  readonly violations: readonly (Violation & { readonly desired: Desired })[];
}

const defaultMaxStates = 1_000_000;

/**
 * Makes an operator of decisions that are kept apart from doing: from `observe`, `plan` and `act` comes the controller, and
 * with a `model` of how the world answers come the forecast and the exploration of everything that can happen.
 */
export function definePlanner<
  T extends KubernetesObject,
  Desired,
  Observation,
  Step,
  State = never,
  Seen extends Observation = Observation,
  Memory = undefined,
>(
  definition: PlannerDefinition<T, Desired, Observation, Step, State, Seen, Memory>,
): DefinedPlanner<T, Desired, Observation, Step, State> {
  const planner: Planner<Desired, Observation, Step> = {
    plan: (desired, observation) => definition.plan(desired, observation),
  };
  const modelFor = (purpose: string): PlannerModel<Desired, State, Observation, Step> => {
    if (definition.model !== undefined) return definition.model;
    throw new TypeError(`the planner ${definition.name} has no model to ${purpose} with: give definePlanner a model`);
  };
  return {
    ...planner,
    name: definition.name,
    controller: plannerController(definition),
    desired: (object) => definition.desired(object),
    forecast(desired, observation) {
      const model = modelFor('forecast');
      return forecast({ planner, model, desired, state: startOf(definition.name, model, desired, observation) });
    },
    explore(options) {
      const model = modelFor('explore');
      const { invariants = [] } = definition;
      const desires = options.desired === undefined ? model.desires(options.bound) : [options.desired];
      const starts = model.starts(options.bound);
      const found = desires.map((desired) => ({
        desired,
        exploration: explore({
          planner,
          model,
          desired,
          starts,
          invariants,
          faults: options.faults,
          staleness: options.staleness ?? 1,
          maxStates: options.maxStates ?? defaultMaxStates,
          isGoal: (state) => model.isGoal(state, desired),
          isBeyondRepair: (state) => model.isBeyondRepair?.(state, desired) ?? false,
        }),
      }));
      return sum(found);
    },
  };
}

function startOf<Desired, State, Observation, Step>(
  name: string,
  model: PlannerModel<Desired, State, Observation, Step>,
  desired: Desired,
  observation: Observation | undefined,
): State {
  if (observation !== undefined) {
    if (model.assume !== undefined) return model.assume(observation, desired);
    throw new TypeError(
      `the model of ${name} cannot forecast from an observation: give it assume(observation), or forecast from nothing`,
    );
  }
  const [nothing] = model.starts(0);
  if (nothing === undefined) throw new TypeError(`the model of ${name} has no start within bound 0: the empty world`);
  return nothing;
}

function sum<Desired>(
  found: readonly { readonly desired: Desired; readonly exploration: Exploration }[],
): PlannerExploration<Desired> {
  const total = (count: (exploration: Exploration) => number) =>
    found.reduce((whole, { exploration }) => whole + count(exploration), 0);
  return {
    states: total(({ states }) => states),
    staleSituations: total(({ staleSituations }) => staleSituations),
    transitions: total(({ transitions }) => transitions),
    isComplete: found.every(({ exploration }) => exploration.isComplete),
    violations: found.flatMap(({ desired, exploration }) =>
      exploration.violations.map((violation) => ({ ...violation, desired })),
    ),
  };
}
