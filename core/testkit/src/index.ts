export { type BootedPlane, type BootOptions, bootPlane } from './boot-plane.js';
export { type CheckOptions, checkOperator } from './checks/check-operator.js';
export type { CheckReport, PointResult } from './checks/check-report.js';
export { type CheckName, type CheckPoint, checkNames, type OperatorScenario } from './checks/operator-scenario.js';
export { type DrawnFaults, drawFaults, type FaultKind, faultKinds } from './cluster/draw-faults.js';
export type { EndFault, EventFate, EventFault, Faults, RequestFate, RequestFault } from './cluster/faults.js';
export type { HistoryEntry } from './cluster/history.js';
export type { ProcessLife } from './cluster/process-life.js';
export {
  type OperatorFactory,
  type OperatorProcess,
  type TestCluster,
  type TestClusterOptions,
  testCluster,
} from './cluster/test-cluster.js';
export { type EventuallyOptions, eventually } from './eventually.js';
export type { SimulatedNodes, SimulatedNodesOptions } from './node/simulated-nodes.js';
export type { NodePace } from './node/simulated-pod.js';
export type { ProgramOf, RunningProgram, SimulatedContainer, SimulatedProgram } from './node/simulated-program.js';
export type { SimulatedDisk, SimulatedVolumes } from './node/simulated-volumes.js';
