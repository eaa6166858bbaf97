import type { SchedulerPlugin } from './plugin.js';
import { nodeAffinity } from './plugins/node-affinity.js';
import { nodePorts } from './plugins/node-ports.js';
import { nodeResourcesBalanced, nodeResourcesFit } from './plugins/node-resources.js';
import { nodeUnschedulable } from './plugins/node-unschedulable.js';
import { interPodAffinity } from './plugins/pod-affinity.js';
import { taintToleration } from './plugins/taint-toleration.js';
import { podTopologySpread } from './plugins/topology-spread.js';
import { volumeBinding } from './plugins/volume-binding.js';
import { volumeRestrictions } from './plugins/volume-restrictions.js';

/**
 * Everything that has a say in where a pod goes, in the order in which nodes are asked: the first that refuses a node is told
 * of. As upstream's default profile. Made anew for each scheduler: some remember what they reserved.
 */
export function schedulerPlugins(): readonly SchedulerPlugin[] {
  return [
    nodeUnschedulable,
    taintToleration,
    nodeAffinity,
    nodePorts,
    nodeResourcesFit,
    volumeRestrictions,
    volumeBinding(),
    podTopologySpread,
    interPodAffinity,
    nodeResourcesBalanced,
  ];
}
