import { isTolerated, nodes, type Pod, type Taint } from '@castellan/machinery';
import { hint, refused, type SchedulerPlugin } from '../plugin.js';

/** `kubectl cordon`: nothing new comes to the node, but what tolerates the taint that goes with it. */
export const nodeUnschedulable: SchedulerPlugin = {
  name: 'NodeUnschedulable',
  hints: [hint({ type: nodes, mayHelp: (pod, { object }) => object.spec?.unschedulable !== true || toleratesIt(pod) })],
  filterOf: (pod) => {
    if (toleratesIt(pod)) return undefined;
    const refusal = refused('node(s) were unschedulable');
    return ({ node }) => (node.spec?.unschedulable === true ? refusal : undefined);
  },
};

const unschedulable: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function toleratesIt({ spec }: Pod): boolean {
  return isTolerated(unschedulable, spec?.tolerations ?? []);
}
