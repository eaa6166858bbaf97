import type { Run } from '../context.js';
import { describeInstance } from '../etcd/describe-instance.js';
import { formatTable } from '../output/table.js';
import { withPlane } from '../plane/connect-to-plane.js';
import { observePlane, type StatusView } from '../plane/observe-plane.js';

export const status: Run = async (context) => {
  const view = await withPlane(context, (client) => observePlane(context, client));
  context.reporter.result(view, () => describe(view));
};

function describe({ plane, nodes: nodeViews, etcd, pods: podViews }: StatusView): string {
  const lines = [
    `plane  ${plane.isReady ? 'ready' : 'not ready'}  ${plane.url}  pid ${plane.pid}  data in ${plane.dataDirectory}`,
    ...nodeViews.map(({ name, isReady, reason }) => `node   ${name}  ${isReady ? 'ready' : `not ready: ${reason}`}`),
    ...(nodeViews.length === 0 ? ['node   none: pods stay Pending (the plane was started with --no-node)'] : []),
    ...etcd.map(describeInstance),
  ];
  const isSpread = nodeViews.length > 1;
  const rows = podViews.map(({ namespace, name, state, address, node }) => [
    ...[namespace, name, state, address],
    ...(isSpread ? [node] : []),
  ]);
  const columns = ['namespace', 'pod', 'state', 'address', ...(isSpread ? ['node'] : [])];
  return [...lines, rows.length === 0 ? '\nno pods' : `\n${formatTable(columns, rows)}`].join('\n');
}
