import type { Pod } from '@castellan/machinery';
import { containersOf } from './pod-spec.js';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

/** How much a pod may rely on getting: by the requests and limits of all its containers. */
export function qosClass(pod: Pod): QosClass {
  const resources = containersOf(pod).map((container) => container.resources ?? {});
  const isGuaranteed = resources.every(({ limits = {}, requests }) =>
    ['cpu', 'memory'].every(
      (name) => limits[name] !== undefined && (requests?.[name] ?? limits[name]) === limits[name],
    ),
  );
  if (isGuaranteed) return 'Guaranteed';
  const isBestEffort = resources.every(
    ({ limits = {}, requests = {} }) => Object.keys(limits).length + Object.keys(requests).length === 0,
  );
  return isBestEffort ? 'BestEffort' : 'Burstable';
}
