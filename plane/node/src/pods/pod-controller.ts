import { nodes, pods } from '@castellan/machinery';
import type { ReconcileContext } from '@castellan/runtime';
import { type Controller, watchSource } from '@castellan/runtime';
import type { PodWorkers } from './pod-workers.js';

/** Hands each pod to its worker, which does the work in its own time: exits and probes wake it as objects do. */
export function podController(workers: (context: ReconcileContext) => PodWorkers): Controller {
  return {
    name: 'node-pods',
    for: pods,
    concurrency: 8,
    async reconcile(key, context) {
      workers(context).update(key, context.cache.get(pods, key));
      return undefined;
    },
  };
}

/** Comes when all pods are known for the first time; removes what an earlier plane left of pods that are no more. */
export function orphanController(nodeName: string, workers: (context: ReconcileContext) => PodWorkers): Controller {
  return {
    name: 'node-orphans',
    for: nodes,
    // Of no interest one by one: named here so that their first list comes before the first reconcile.
    watches: [watchSource({ type: pods, map: () => [] })],
    async reconcile(key, context) {
      if (key.name !== nodeName) return undefined;
      const uids = context.cache.list(pods).flatMap(({ metadata }) => metadata.uid ?? []);
      await workers(context).removeOrphans(new Set(uids));
      return undefined;
    },
  };
}
