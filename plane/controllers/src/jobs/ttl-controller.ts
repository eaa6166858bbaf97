import { isStatusError, type Job, jobs } from '@castellan/machinery';
import type { Controller } from '@castellan/runtime';
import { finalConditionOf } from './job-view.js';

/** Deletes Jobs, with their pods, `ttlSecondsAfterFinished` after they ended. Source: KEP-592. */
export function finishedJobController(): Controller<Job> {
  return {
    name: 'ttl-after-finished-controller',
    for: jobs,
    writes: [{ type: jobs, verbs: ['delete'] }],
    concurrency: 5,
    async reconcile(key, { cache, client, signal, world }) {
      const job = cache.get(jobs, key);
      const leftMs = job === undefined ? undefined : lifeLeftMs(job, world.clock.now());
      if (job === undefined || leftMs === undefined) return undefined;
      if (leftMs > 0) return { requeueAfterMs: leftMs };
      // Its time may have been prolonged since the cache was told of it: only what was judged is deleted.
      const { uid = '', resourceVersion = '' } = job.metadata;
      try {
        const preconditions = { uid, resourceVersion };
        await client.delete(jobs, key, { preconditions, propagationPolicy: 'Foreground', signal });
      } catch (error) {
        if (isStatusError(error, 'Conflict')) return { requeueAfterMs: 20 };
        throw error;
      }
      return undefined;
    },
  };
}

/** `undefined`: it may stay for ever, or goes already. */
export function lifeLeftMs(job: Job, nowMs: number): number | undefined {
  const seconds = job.spec?.ttlSecondsAfterFinished;
  const endedAt = finalConditionOf(job)?.lastTransitionTime;
  if (seconds === undefined || endedAt === undefined || job.metadata.deletionTimestamp !== undefined) return undefined;
  return Date.parse(endedAt) + seconds * 1_000 - nowMs;
}
