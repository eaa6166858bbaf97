export { type BootedPlane, type BootOptions, bootPlane } from './boot-plane.js';
export { type EventuallyOptions, eventually } from './eventually.js';
export { CrashError, type Faults, type FaultyClient, faultyClient } from './faulty-client.js';
export {
  convergesFromCrashAtEveryWrite,
  convergesFromStaleReadsAndConflicts,
  type ReconcilerCase,
  secondReconcileWritesNothing,
} from './stock-checks.js';
