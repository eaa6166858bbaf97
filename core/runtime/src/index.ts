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
export type { Invariant, Model, Planner, WorldMove } from './planner.js';
export type { Reader } from './reader.js';
