export { checkMachine, type MachineFinding } from './agent/check-machine.js';
export type { LogRequest } from './agent/container-logs.js';
export { createNodeAgent, type NodeAgent, type NodeAgentOptions } from './agent/node-agent.js';
export { type RemovalOptions, removeEverything } from './agent/remove-everything.js';
