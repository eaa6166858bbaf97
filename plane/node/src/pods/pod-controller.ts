import { configMaps, nodes, pods, secrets } from '@castellan/machinery';
import { type Channel, type Controller, type ReconcileContext, watchSource } from '@castellan/runtime';
import type { PodWorkers } from './pod-workers.js';

/** The pods of the nodes that run on this machine now, by the node's name. */
export type RunningNodes = (context: ReconcileContext) => ReadonlyMap<string, PodWorkers>;

/** Hands each pod to its node, whose worker for it does the work in its own time: exits and probes wake it as objects do. */
export function podController(running: RunningNodes): Controller {
  return {
    // The name that events about pods carry: people look for kubelet's.
    name: 'kubelet',
    for: pods,
    concurrency: 8,
    async reconcile(key, context) {
      const pod = context.cache.get(pods, key);
      for (const workers of running(context).values()) workers.update(key, pod);
      return undefined;
    },
  };
}

/** Files of volumes follow the ConfigMaps and Secrets that they come from while a pod runs. */
export function volumeSourceControllers(running: RunningNodes): readonly Controller[] {
  return [configMaps, secrets].map((type) => ({
    name: `node-${type.plural}`,
    for: type,
    async reconcile(key, context) {
      const kind = type.kind === 'Secret' ? 'Secret' : 'ConfigMap';
      for (const workers of running(context).values()) workers.sourceChanged(kind, key);
      return undefined;
    },
  }));
}

/**
 * Comes to a node when all pods are known for the first time, and when the node has started (`started`): gives it all of its
 * pods, and lets it remove what is left of those that are no more.
 */
export function takeOverController(started: Channel, running: RunningNodes): Controller {
  return {
    name: 'node-take-over',
    for: nodes,
    channels: [started],
    // Of no interest one by one: named here so that their first list comes before the first reconcile.
    watches: [watchSource({ type: pods, map: () => [] })],
    async reconcile(key, context) {
      await running(context).get(key.name)?.takeOver(context.cache.list(pods));
      return undefined;
    },
  };
}
