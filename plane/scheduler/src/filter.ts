import type { Pod } from '@castellan/machinery';
import type { NodeView } from './cluster-view.js';
import { isWantedNode } from './node-affinity.js';
import { podAffinityObstacles } from './pod-affinity.js';
import { requestsOf } from './resources.js';
import { isTolerated, taintsOf, unschedulableTaint } from './taints.js';

/**
 * Why this pod cannot run on this node, in upstream's words; empty when it can. As upstream, the first kind of obstacle
 * is told, and of resources every one that is short. `all` are all nodes: pods may have to be near others or away.
 */
export function filter(pod: Pod, view: NodeView, all: readonly NodeView[] = [view]): readonly string[] {
  for (const check of checks) {
    const reasons = check(pod, view, all);
    if (reasons.length > 0) return reasons;
  }
  return [];
}

type Check = (pod: Pod, view: NodeView, all: readonly NodeView[]) => readonly string[];

const checks: readonly Check[] = [
  isSchedulable,
  toleratesTaints,
  wantsNode,
  hasFreePorts,
  hasRoom,
  podAffinityObstacles,
];

function isSchedulable({ spec }: Pod, { node }: NodeView): readonly string[] {
  if (node.spec?.unschedulable !== true || isTolerated(unschedulableTaint, spec?.tolerations ?? [])) return [];
  return ['node(s) were unschedulable'];
}

function toleratesTaints({ spec }: Pod, { node }: NodeView): readonly string[] {
  const taint = taintsOf(node).find(({ effect, ...rest }) => {
    const repels = effect === 'NoSchedule' || effect === 'NoExecute';
    return repels && !isTolerated({ effect, ...rest }, spec?.tolerations ?? []);
  });
  return taint === undefined ? [] : [`node(s) had untolerated taint {${taint.key}: ${taint.value ?? ''}}`];
}

function wantsNode({ spec }: Pod, { node }: NodeView): readonly string[] {
  return isWantedNode(spec, node) ? [] : ["node(s) didn't match Pod's node affinity/selector"];
}

function hasFreePorts(pod: Pod, { pods }: NodeView): readonly string[] {
  const taken = pods.flatMap(hostPortsOf);
  const isFree = hostPortsOf(pod).every((port) => !taken.some((other) => isSamePort(port, other)));
  return isFree ? [] : ["node(s) didn't have free ports for the requested pod ports"];
}

function hasRoom(pod: Pod, { allocatable, requested }: NodeView): readonly string[] {
  const short: string[] = [];
  for (const [name, amount] of requestsOf(pod)) {
    if (amount <= (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0)) continue;
    // A pod that asks for nothing of a resource fits whatever others took of it.
    if (amount === 0) continue;
    short.push(name === 'pods' ? 'Too many pods' : `Insufficient ${name}`);
  }
  return short;
}

interface HostPort {
  readonly ip: string;
  readonly port: number;
  readonly protocol: string;
}

const anyAddress = '0.0.0.0';

/** With the host's network every container port is a host port. */
function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  return (spec?.containers ?? [])
    .flatMap((container) => container.ports ?? [])
    .flatMap(({ hostPort, containerPort, hostIP, protocol }) => {
      const port = hostPort ?? (spec?.hostNetwork === true ? containerPort : 0);
      return port === 0 ? [] : [{ ip: hostIP || anyAddress, port, protocol: protocol ?? 'TCP' }];
    });
}

function isSamePort(a: HostPort, b: HostPort): boolean {
  const isSameAddress = a.ip === b.ip || a.ip === anyAddress || b.ip === anyAddress;
  return isSameAddress && a.port === b.port && a.protocol === b.protocol;
}
