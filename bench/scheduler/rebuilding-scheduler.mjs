import { keyOf, nodes, pods } from '../../core/machinery/dist/src/index.js';
import { bind } from '../../plane/scheduler/dist/src/bind.js';
import { chooseNode } from '../../plane/scheduler/dist/src/choose-node.js';
import { ClusterView } from '../../plane/scheduler/dist/src/cluster/cluster-view.js';
import { schedulerPlugins } from '../../plane/scheduler/dist/src/plugins.js';

/** The way before: for each pod the cluster is read anew from the cache, and each binding waits for the one before. */
export function rebuildingScheduler() {
  const plugins = schedulerPlugins();
  const assumed = new Map();
  return {
    name: 'rebuilding-scheduler',
    for: pods,
    watches: [{ type: nodes, map: () => [] }],
    concurrency: 1,
    async reconcile(key, { cache, client, world, signal }) {
      const pod = cache.get(pods, key);
      if (pod === undefined || pod.spec.nodeName !== undefined || assumed.has(pod.metadata.uid)) return undefined;
      const cluster = new ClusterView();
      for (const node of cache.list(nodes)) cluster.noteNode(node);
      for (const other of cache.list(pods)) cluster.notePod(other);
      cluster.refresh(cache);
      for (const [uid, { placed, nodeName }] of assumed) {
        if (cache.get(pods, keyOf(placed))?.spec.nodeName !== undefined) assumed.delete(uid);
        else cluster.assume(placed, nodeName);
      }
      const choice = chooseNode(pod, { cluster, cache }, { plugins, random: world.random });
      if (choice.kind === 'none') throw new Error(choice.message);
      assumed.set(pod.metadata.uid, { placed: pod, nodeName: choice.nodeName });
      await bind(pod, choice.nodeName, client, signal);
      return undefined;
    },
  };
}
