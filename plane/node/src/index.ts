export { checkMachine, type MachineFinding } from './agent/check-machine.js';
export type { LogRequest } from './agent/container-logs.js';
export { createNodeAgent, type NodeAgent, type NodeAgentOptions } from './agent/node-agent.js';
export { type RemovalOptions, removeEverything } from './agent/remove-everything.js';
export {
  enterRootless,
  openRootlessPort,
  type RootlessOptions,
  type RootlessPlane,
} from './rootless/enter-rootless.js';
export type { Forward } from './rootless/port-forward.js';
export { removeUserNamespace } from './rootless/user-namespace.js';
