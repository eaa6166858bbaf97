export { checkMachine, type MachineFinding } from './agent/check-machine.js';
export type { LogRequest } from './agent/container-logs.js';
export {
  createMachine,
  type Machine,
  type MachineOptions,
  type NodeState,
  type StartedMachine,
} from './agent/machine.js';
export type { NodeAgent, NodeOptions } from './agent/node-agent.js';
export { type RemovalOptions, removeEverything } from './agent/remove-everything.js';
export { ArchiveError } from './image-store/archive-error.js';
export { ImageStore, type LoadProgress, type StoredImage } from './image-store/image-store.js';
export { type LoadedImage, type LoadOptions, loadArchive } from './image-store/load-archive.js';
export { PullError, type PullOptions, pullImage } from './image-store/pull-image.js';
export type { OfferedProgram } from './images/image.js';
export { defaultProgramDirectory, ImageCatalogue } from './images/image-catalogue.js';
export type { MeasuredUsage, NodeUsage, PodUsage } from './metrics/machine-usage.js';
export type { ContainerFacts, RunFacts } from './pods/container-facts.js';
export { type PodPlan, planPod } from './pods/pod-plan.js';
export { type PodObservation, podStatus } from './pods/pod-status.js';
export { nextBackoffMs } from './pods/restart-backoff.js';
export {
  enterRootless,
  openRootlessPort,
  type RootlessOptions,
  type RootlessPlane,
} from './rootless/enter-rootless.js';
export type { Forward } from './rootless/port-forward.js';
export { removeUserNamespace } from './rootless/user-namespace.js';
export { localStorageControllers } from './storage/local-storage.js';
export type { LocalStorageOptions, VolumeStore } from './storage/volume-store.js';
