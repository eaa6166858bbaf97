import { isStatusError, type Node, nodes, type Taint } from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';

const notReady = 'node.kubernetes.io/not-ready';
const unreachable = 'node.kubernetes.io/unreachable';

/**
 * Keeps the taint that says what a node's Ready condition says, so that nothing new is scheduled there. Source: the
 * NoSchedule taints of kube-controller-manager's node lifecycle controller; pods are not evicted.
 */
export function readinessTaintsController(): Controller<Node> {
  return {
    name: 'node-readiness-taints',
    for: nodes,
    watches: [],
    concurrency: 4,
    async reconcile(key, { cache, client, signal }) {
      const node = cache.get(nodes, key);
      if (node === undefined || node.metadata.deletionTimestamp !== undefined) return undefined;
      const taints = node.spec?.taints ?? [];
      const wanted = withReadiness(taints, node.status?.conditions?.find(({ type }) => type === 'Ready')?.status);
      if (wanted === taints) return undefined;
      const { resourceVersion } = node.metadata;
      const body = { metadata: { resourceVersion }, spec: { taints: wanted.length === 0 ? null : wanted } };
      try {
        await client.patch(nodes, key, { type: 'merge', body }, { signal });
      } catch (error) {
        if (!isStatusError(error, 'NotFound')) throw error;
      }
      return undefined;
    },
  };
}

/** The same array when nothing changes. A node that has never reported stays as admission tainted it. */
function withReadiness(taints: readonly Taint[], ready: string | undefined): readonly Taint[] {
  if (ready === undefined) return taints;
  const wanted = ready === 'True' ? undefined : ready === 'Unknown' ? unreachable : notReady;
  const isOurs = ({ key, effect }: Taint) => (key === notReady || key === unreachable) && effect === 'NoSchedule';
  const ours = taints.filter(isOurs);
  if (wanted === undefined ? ours.length === 0 : ours.length === 1 && ours[0]?.key === wanted) return taints;
  const others = taints.filter((taint) => !isOurs(taint));
  return wanted === undefined ? others : [...others, { key: wanted, effect: 'NoSchedule' }];
}
