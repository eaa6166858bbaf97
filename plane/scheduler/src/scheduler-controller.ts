import {
  formatKey,
  type KubernetesObject,
  keyOf,
  namespaces,
  nodes,
  type ObjectKey,
  type Pod,
  podDisruptionBudgets,
  pods,
  type ResourceType,
} from '@castellan/machinery';
import {
  type Change,
  type Controller,
  type Reader,
  type ReconcileContext,
  type ReconcileResult,
  type WatchSource,
  watchSource,
} from '@castellan/runtime';
import { chooseNode } from './choose-node.js';
import { ClusterView } from './cluster/cluster-view.js';
import { hasFinished, priorityOf } from './cluster/pod-facts.js';
import { Placement } from './placement.js';
import type { SchedulerPlugin } from './plugin.js';
import { schedulerPlugins } from './plugins.js';
import { patchPodStatus } from './pod-status.js';
import { planPreemption } from './preemption/plan-preemption.js';
import { preempt } from './preemption/preempt.js';
import { WaitingPods } from './waiting-pods.js';

const schedulerName = 'default-scheduler';
/** Changes wake what waits; this is for what no hint knows of. As upstream. */
const retryMs = 300_000;
/** A plugin that waits for others is asked again this often, whatever it hears. */
const waitMs = 5_000;
/** Decisions are made one at a time; this many of them may be on their way to the API server. */
const mostInFlight = 256;

/**
 * Finds a node for every pod that has none, the most urgent first. A decision takes no time of the clock: it sees all earlier ones, and
 * none waits for the writes of another.
 */
export function schedulerController(): Controller<Pod> {
  const scheduler = new Scheduler(schedulerPlugins());
  return {
    // Events show it under this name, as on any cluster.
    name: schedulerName,
    for: pods,
    when: (change) => scheduler.isConcerned(change),
    watches: scheduler.watches(),
    writes: [
      { type: pods, subresource: 'binding', verbs: ['create'] },
      { type: pods, verbs: ['delete'] },
    ],
    concurrency: mostInFlight,
    priority: (key, cache) => urgencyOf(key, cache),
    reconcile: (key, context) => scheduler.schedule(key, context),
  };
}

class Scheduler {
  readonly #plugins: readonly SchedulerPlugin[];
  readonly #view = new ClusterView();
  readonly #waiting: WaitingPods;
  readonly #placements = new Map<string, Placement>();

  constructor(plugins: readonly SchedulerPlugin[]) {
    this.#plugins = plugins;
    this.#waiting = new WaitingPods(plugins);
  }

  /** Each change is noted for the next decision, and wakes the pods that it may help. */
  watches(): readonly WatchSource[] {
    const noted = [
      this.#source(nodes, (node) => this.#view.noteNode(node)),
      this.#source(pods, (pod) => this.#view.notePod(pod)),
      this.#source(namespaces, (namespace) => this.#view.noteNamespace(namespace)),
      this.#source(podDisruptionBudgets),
    ];
    const known = new Set(noted.map(({ type }) => type));
    const others = this.#waiting.types.filter((type) => !known.has(type));
    return [...noted, ...others.map((type) => this.#source(type))];
  }

  #source<T extends KubernetesObject>(type: ResourceType<T>, note?: (object: T) => void): WatchSource {
    return watchSource({
      type,
      map: (object, _, change) => {
        note?.(object);
        // An update is mapped as it was before, too.
        return object === change.object ? this.#waiting.helpedBy(type, change) : [];
      },
    });
  }

  /** Statuses change all the time, and by our own writes too. */
  isConcerned(change: Change<Pod>): boolean {
    const { object } = change;
    const key = formatKey(keyOf(object));
    if (!isOurs(object) || change.kind === 'deleted') return this.#waiting.has(key) || this.#placements.has(key);
    if (change.kind === 'added') return true;
    const { previous } = change;
    return !isOurs(previous) || previous.spec !== object.spec || previous.metadata.labels !== object.metadata.labels;
  }

  async schedule(key: ObjectKey, context: ReconcileContext): Promise<ReconcileResult> {
    const id = formatKey(key);
    const { cache, world } = context;
    const nowMs = world.clock.monotonicNow();
    this.#view.refresh(cache);
    const pod = cache.get(pods, key);
    const placement = this.#placements.get(id);
    if (placement !== undefined) {
      if (pod !== undefined && isOurs(pod) && placement.isValidFor(pod, nowMs))
        return this.#carryOn(placement, context);
      this.#placements.delete(id);
      placement.abandon();
    }
    if (pod === undefined || !isOurs(pod)) {
      this.#waiting.leave(id);
      return undefined;
    }
    if (this.#view.nodeOf(pod) !== undefined) return undefined;
    const restMs = this.#waiting.restMs(id, nowMs);
    if (restMs > 0) return { requeueAfterMs: restMs };
    return this.#decide(pod, context);
  }

  async #decide(pod: Pod, context: ReconcileContext): Promise<ReconcileResult> {
    const { cache, world } = context;
    const nowMs = world.clock.monotonicNow();
    const scene = { cluster: this.#view, cache };
    const options = { plugins: this.#plugins, random: world.random };
    const choice = chooseNode(pod, scene, options);
    if (choice.kind === 'node') {
      const placement = new Placement(pod, choice.nodeName, { view: this.#view, plugins: this.#plugins, scene, nowMs });
      this.#placements.set(formatKey(keyOf(pod)), placement);
      return this.#carryOn(placement, context);
    }
    this.#waiting.failed(pod, choice.refusedBy, nowMs);
    const plan = planPreemption(pod, choice.refusals, scene, options);
    if (plan.kind === 'preempt') {
      this.#view.nominate(pod, plan.nodeName);
      await this.#tell(pod, unschedulable(choice.message, plan.nodeName), context);
      await preempt(pod, plan.nodeName, plan.victims, context);
      return { requeueAfterMs: retryMs };
    }
    if (plan.isFutile) this.#view.withdrawNomination(pod);
    const message = `${choice.message}${plan.message}`;
    await this.#tell(pod, unschedulable(message, plan.isFutile ? '' : undefined), context);
    return { requeueAfterMs: retryMs };
  }

  async #carryOn(placement: Placement, context: ReconcileContext): Promise<ReconcileResult> {
    const { pod } = placement;
    const key = formatKey(keyOf(pod));
    const state = await placement.carryOn(context).catch(async (error: unknown) => {
      if (this.#view.nodeOf(pod) === undefined) {
        this.#placements.delete(key);
        const why = error instanceof Error ? error.message : String(error);
        await this.#tell(pod, { reason: 'SchedulerError', message: `binding rejected: ${why}` }, context);
      }
      throw error;
    });
    if (state.kind === 'waiting') {
      this.#waiting.waitsFor(pod, state.plugin);
      return { requeueAfterMs: waitMs };
    }
    this.#placements.delete(key);
    if (state.kind === 'ended') {
      this.#waiting.leave(key);
      this.#view.withdrawNomination(pod);
      return undefined;
    }
    this.#waiting.failed(pod, new Set([state.plugin]), context.world.clock.monotonicNow());
    await this.#tell(pod, unschedulable(state.refusal.reasons.join(', ')), context);
    return { requeueAfterMs: this.#waiting.restMs(key, context.world.clock.monotonicNow()) };
  }

  /** By a condition, which is written when it changes, and by an event at each try. */
  async #tell(pod: Pod, { reason, message, nominatedNodeName }: Trouble, context: ReconcileContext): Promise<void> {
    context.events.record(pod, { type: 'Warning', reason: 'FailedScheduling', action: 'Scheduling', message });
    const condition = { type: 'PodScheduled', status: 'False', reason, message };
    const change = { condition, ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }) };
    await patchPodStatus(pod, change, context);
  }
}

/** Why a pod has no node yet. */
interface Trouble {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
  /** Where it is to go when others have gone; `''`: nowhere any more; absent: as before. */
  readonly nominatedNodeName?: string;
}

function unschedulable(message: string, nominatedNodeName?: string): Trouble {
  return { reason: 'Unschedulable', message, ...(nominatedNodeName === undefined ? {} : { nominatedNodeName }) };
}

function isOurs(pod: Pod): boolean {
  const { spec, metadata } = pod;
  return (
    (spec?.nodeName ?? '') === '' &&
    metadata.deletionTimestamp === undefined &&
    !hasFinished(pod) &&
    (spec?.schedulerName ?? schedulerName) === schedulerName &&
    (spec?.schedulingGates ?? []).length === 0
  );
}

function urgencyOf(key: ObjectKey, cache: Reader): number {
  const pod = cache.get(pods, key);
  return pod === undefined ? 0 : priorityOf(pod);
}
