import { formatKey, keyOf, nodes, type Pod, pods } from '@castellan/machinery';
import { type Controller, type ReconcileContext, type ReconcileResult, watchSource } from '@castellan/runtime';
import { bind } from './bind.js';
import { chooseNode } from './choose-node.js';
import { AssumedPods, hasFinished, viewCluster } from './cluster-view.js';
import { hasPodAffinity } from './pod-affinity.js';

const schedulerName = 'default-scheduler';
/** A node that changes or a pod that goes wakes what waits; this is for what neither tells. */
const retryMs = 30_000;

/** Finds a node for every pod that has none. One pod at a time: each choice sees all earlier ones. */
export function schedulerController(): Controller<Pod> {
  const assumed = new AssumedPods();
  const waiting = new Map<string, Pod>();
  return {
    name: 'scheduler',
    for: pods,
    watches: [
      watchSource({ type: nodes, map: () => [...waiting.values()].map(keyOf) }),
      watchSource({
        type: pods,
        map: (pod) => [...waiting.values()].filter((waiter) => mayHelp(pod, waiter)).map(keyOf),
      }),
    ],
    concurrency: 1,
    async reconcile(key, context) {
      const pod = context.cache.get(pods, key);
      if (pod === undefined || !isOurs(pod) || assumed.has(pod)) {
        waiting.delete(formatKey(key));
        return undefined;
      }
      const choice = chooseNode(pod, viewCluster(context.cache, assumed));
      if (choice.kind === 'none') {
        waiting.set(formatKey(key), pod);
        return reportUnschedulable(pod, choice.message, context);
      }
      waiting.delete(formatKey(key));
      await place(pod, choice.nodeName, assumed, context);
      return undefined;
    },
  };
}

function isOurs(pod: Pod): boolean {
  const { spec, metadata } = pod;
  return (
    spec?.nodeName === undefined &&
    metadata.deletionTimestamp === undefined &&
    !hasFinished(pod) &&
    (spec?.schedulerName ?? schedulerName) === schedulerName &&
    (spec?.schedulingGates ?? []).length === 0
  );
}

/** A pod that leaves its node makes room there; one that comes may be whom another wants to be near. */
function mayHelp(pod: Pod, waiter: Pod): boolean {
  if (pod.spec?.nodeName === undefined) return false;
  return pod.metadata.deletionTimestamp !== undefined || hasFinished(pod) || hasPodAffinity(waiter);
}

async function place(pod: Pod, nodeName: string, assumed: AssumedPods, context: ReconcileContext): Promise<void> {
  // Before the request, not after: no other choice may be made on a view without it.
  assumed.assume(pod, nodeName);
  try {
    if (!(await bind(pod, nodeName, context.client, context.signal))) {
      assumed.forget(pod);
      return;
    }
  } catch (error) {
    assumed.forget(pod);
    throw error;
  }
  const message = `Successfully assigned ${formatKey(keyOf(pod))} to ${nodeName}`;
  context.events.record(pod, { type: 'Normal', reason: 'Scheduled', message });
}

async function reportUnschedulable(pod: Pod, message: string, context: ReconcileContext): Promise<ReconcileResult> {
  const { client, events, signal, world } = context;
  const conditions = pod.status?.conditions ?? [];
  const before = conditions.find(({ type }) => type === 'PodScheduled');
  if (before?.status === 'False' && before.message === message) return { requeueAfterMs: retryMs };
  const now = new Date(world.clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message,
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? now) : now,
  };
  events.record(pod, { type: 'Warning', reason: 'FailedScheduling', message });
  const others = conditions.filter(({ type }) => type !== condition.type);
  const { resourceVersion } = pod.metadata;
  const body = { metadata: { resourceVersion }, status: { conditions: [...others, condition] } };
  await client.patch(pods, keyOf(pod), { type: 'merge', body }, { subresource: 'status', signal });
  return { requeueAfterMs: retryMs };
}
