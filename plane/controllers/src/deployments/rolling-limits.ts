import type { Deployment } from '@castellan/machinery';
import { podsOf } from '../workloads/pods-of.js';

/** How far a Deployment may be from its number of replicas, in pods. */
export interface RollingLimits {
  /** More than wanted. */
  readonly surge: number;
  /** Fewer available than wanted. */
  readonly unavailable: number;
}

/**
 * The limits of a Deployment while it rolls. A percentage is of its replicas: of the surge rounded up, of the unavailable
 * down. With both 0 nothing could ever move, so one pod may be missing then. Source: ResolveFenceposts of upstream's
 * deployment controller.
 */
export function rollingLimits({ spec }: Deployment): RollingLimits {
  const { replicas = 1, strategy } = spec ?? {};
  if (strategy?.type === 'Recreate') return { surge: 0, unavailable: 0 };
  const { maxSurge = '25%', maxUnavailable = '25%' } = strategy?.rollingUpdate ?? {};
  const surge = podsOf(maxSurge, replicas, Math.ceil);
  const unavailable = podsOf(maxUnavailable, replicas, Math.floor);
  return { surge, unavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, replicas) };
}
