export {
  type Controller,
  type EventNote,
  type EventRecorder,
  type Log,
  type LogFields,
  type ReconcileContext,
  type ReconcileResult,
  type WatchSource,
  watchSource,
} from './controller.js';
export { blocked, type Decision, settled, step, wait } from './decision.js';
export type { Operator } from './operator.js';
export { type Exploration, type ExploreOptions, explore, type Violation } from './planner/explore.js';
export { type Forecast, type ForecastEntry, type ForecastOptions, forecast } from './planner/forecast.js';
export type { Invariant, Model, Planner, WorldMove } from './planner/planner.js';
export type { Reader } from './reader.js';
