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
  const rows = podViews.map(({ namespace, name, state, address }) => [namespace, name, state, address]);
  return [
    ...lines,
    rows.length === 0 ? '\nno pods' : `\n${formatTable(['namespace', 'pod', 'state', 'address'], rows)}`,
  ].join('\n');
}
