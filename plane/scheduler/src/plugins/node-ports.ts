import { pods } from '@castellan/machinery';
import { isSamePort } from '../cluster/host-ports.js';
import type { NodeView } from '../cluster/node-view.js';
import { factsOf } from '../cluster/pod-facts.js';
import { crowded, hint, type SchedulerPlugin } from '../plugin.js';
import { leftNode } from './pod-changes.js';

/** No two pods of a node get one of its ports. */
export const nodePorts: SchedulerPlugin = {
  name: 'NodePorts',
  hints: [
    hint({ type: pods, mayHelp: (_, change) => leftNode(change) && factsOf(change.object).hostPorts.length > 0 }),
  ],
  filterOf: (pod) => {
    const wanted = factsOf(pod).hostPorts;
    if (wanted.length === 0) return undefined;
    const refusal = crowded("node(s) didn't have free ports for the requested pod ports");
    const isTaken = ({ pods: others }: NodeView) => {
      for (const other of others) {
        for (const taken of factsOf(other).hostPorts) {
          if (wanted.some((port) => isSamePort(port, taken))) return true;
        }
      }
      return false;
    };
    return (node) => (isTaken(node) ? refusal : undefined);
  },
};
