import { type Pod, pods } from '@castellan/machinery';
import { type Controller, index, watchSource } from '@castellan/runtime';
import { hasEnded } from '../workloads/pod-state.js';
import { failAndDelete } from './delete-pod.js';

/** Of all pods that have ended, so many may stay to be looked at. */
const mostEnded = 12_500;
const endedPods = index(pods, 'ended', (pod) => (hasEnded(pod) ? ['ended'] : []));
const everything = { namespace: '', name: 'ended pods' };

/**
 * Deletes the oldest of the pods that have ended when there are more than `limit` in the cluster. Its one key stands for all of
 * them. Source: kube-controller-manager's podgc, `--terminated-pod-gc-threshold`.
 */
export function endedPodsController(limit = mostEnded): Controller<Pod> {
  return {
    name: 'ended-pod-collector',
    for: pods,
    when: () => false,
    watches: [watchSource({ type: pods, map: () => [everything], when: ({ object }) => hasEnded(object) })],
    indexes: [endedPods],
    writes: [{ type: pods, verbs: ['delete'] }],
    debounceMs: 1_000,
    async reconcile(_, context) {
      const ended = context.cache.byIndex(endedPods, 'ended').filter(isKept);
      const tooMany = ended.length - limit;
      if (tooMany <= 0) return undefined;
      for (const pod of ended.toSorted(byAge).slice(0, tooMany)) await failAndDelete(pod, context);
      return undefined;
    },
  };
}

/** Deletes pods that were told to end before any node had them. Source: kube-controller-manager's podgc. */
export function unscheduledPodsController(): Controller<Pod> {
  return {
    name: 'unscheduled-pod-collector',
    for: pods,
    when: ({ kind, object }) => kind !== 'deleted' && isGoingNowhere(object),
    writes: [
      { type: pods, verbs: ['delete'] },
      { type: pods, subresource: 'status', verbs: ['patch'] },
    ],
    async reconcile(key, context) {
      const pod = context.cache.get(pods, key);
      if (pod !== undefined && isGoingNowhere(pod)) await failAndDelete(pod, context);
      return undefined;
    },
  };
}

function isGoingNowhere({ metadata, spec }: Pod): boolean {
  // What holds it by a finalizer comes first; a deletion would change nothing.
  const isHeld = (metadata.finalizers ?? []).length > 0 && metadata.deletionGracePeriodSeconds === 0;
  return metadata.deletionTimestamp !== undefined && (spec?.nodeName ?? '') === '' && !isHeld;
}

function isKept({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp === undefined;
}

/** Those that were evicted go first. */
function byAge(left: Pod, right: Pod): number {
  const evicted = Number(right.status?.reason === 'Evicted') - Number(left.status?.reason === 'Evicted');
  if (evicted !== 0) return evicted;
  const [a, b] = [left.metadata.creationTimestamp ?? '', right.metadata.creationTimestamp ?? ''];
  return a === b ? 0 : a < b ? -1 : 1;
}
