import type { NodeState } from '@castellan/embedded';
import type { Run } from '../context.js';
import { formatTable } from '../output/table.js';
import { askNodes } from '../plane/ask-nodes.js';

export const listNodes: Run = async (context) => {
  const nodes = await askNodes(context);
  context.reporter.result(nodes, () => describe(nodes));
};

export const stopNode: Run = async (context, { arguments: given }) => {
  const node = String(given);
  const nodes = await askNodes(context, { verb: 'stop', node });
  context.reporter.result(nodes, () => `${node} is off; \`castellan node start ${node}\` switches it on`);
};

export const startNode: Run = async (context, { arguments: given }) => {
  const node = String(given);
  const nodes = await askNodes(context, { verb: 'start', node });
  context.reporter.result(nodes, () => `${node} is on`);
};

function describe(nodes: readonly NodeState[]): string {
  const rows = nodes.map(({ name, isRunning, zone = '', podCidr }) => [
    name,
    isRunning ? 'running' : 'stopped',
    zone,
    podCidr,
  ]);
  return formatTable(['node', 'state', 'zone', 'pods in'], rows);
}
