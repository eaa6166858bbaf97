import { setMaxListeners } from 'node:events';
// Walk 5b/10: a change held by the informer becomes a key in this controller's queue; a worker gives it to the operator.

import { type Client, startDeadline, unlessAborted } from '@castellan/client';
import {
  formatKey,
  isStatusError,
  type KubernetesObject,
  keyOf,
  parseKey,
  type ResourceType,
} from '@castellan/machinery';
import type { World } from '@castellan/world';
import { changedFields } from '../controller/changed-fields.js';
import { explainFrozenWrite } from '../controller/frozen-write.js';
import { HotLoopDetector } from '../controller/hot-loop.js';
import type { Controller, EventRecorder, Log, ReconcileResult, WatchSource } from '../controller.js';
import { errorMessage } from '../error-message.js';
import type { InformerSet } from '../informer/informer-set.js';
import { logWith } from '../log.js';
import type { ManagerObserver, ReconcileEnd, ReconcileStart } from '../observe/manager-observer.js';
import { BucketLimiter, KeyedBackoff, longestOf } from '../queue/rate-limiter.js';
import { WorkQueue } from '../queue/work-queue.js';
import type { ShardKeeper } from '../sharding/shard-keeper.js';
import type { ChannelSource } from '../source/channel-source.js';
import { TerminalError } from '../terminal-error.js';
import { assertResult } from './checked-result.js';
import { type KeyStatus, ReconcileHistory } from './reconcile-history.js';
import { ControllerSources, type Trigger } from './sources.js';
import { TrackedClient } from './tracked-client.js';

export interface ControllerRunnerOptions {
  readonly controller: Controller;
  readonly client: Client;
  readonly world: World;
  readonly informers: InformerSet;
  readonly log: Log;
  readonly events: EventRecorder;
  /** Told of each failed reconcile, after it was logged and counted. */
  readonly onError?: (error: unknown, where: { readonly controller: string; readonly key: string }) => void;
  /** The longest wait between two tries of one key. */
  readonly longestRetryMs: number;
  readonly observer?: ManagerObserver;
  /** Which keys are this process's; all of them when absent. */
  readonly shards?: ShardKeeper;
}

export interface ControllerStatus {
  readonly name: string;
  /** Of the objects that it reconciles. */
  readonly type: ResourceType;
  /** Keys that wait for a worker, are with one, and are to run later. */
  readonly waiting: number;
  readonly running: number;
  readonly delayed: number;
  readonly reconciles: number;
  readonly failures: number;
  readonly deadlinesMissed: number;
  readonly keys: readonly KeyStatus[];
}

/**
 * Of all keys of a controller together: when a server comes back that was away, it must not be asked for everything at
 * once, and ten thousand keys must not take an hour.
 */
const retryBudget = { perSecond: 50, burst: 100 };

/** Runs one controller: its sources put keys into its queue, its workers take them out and reconcile. */
export class ControllerRunner {
  readonly #options: ControllerRunnerOptions;
  readonly #queue: WorkQueue;
  readonly #history = new ReconcileHistory();
  readonly #hotLoops: HotLoopDetector;
  readonly #sources: ControllerSources;
  /** Of keys that are being reconciled: updates of their own objects, which may be the reconcile's own. */
  readonly #heldUpdates = new Map<string, Trigger[]>();
  #reconciles = 0;
  #failures = 0;
  #deadlinesMissed = 0;

  /** Registers the sources: keys add up, each once, until `run` begins to take them. */
  constructor(options: ControllerRunnerOptions) {
    this.#options = options;
    const { clock, random } = options.world;
    const limiter = longestOf(
      new KeyedBackoff({ baseMs: 5, capMs: options.longestRetryMs, random }),
      new BucketLimiter({ clock, ...retryBudget }),
    );
    const observer = options.observer?.controllerAdded?.({
      name: options.controller.name,
      concurrency: options.controller.concurrency ?? 1,
      waiting: () => this.#queue.length,
      running: () => this.#queue.runningCount,
      unfinished: () => this.#queue.unfinished(),
    });
    this.#queue = new WorkQueue({ clock, limiter, ...(observer !== undefined && { observer }) });
    this.#hotLoops = new HotLoopDetector(clock);
    this.#sources = new ControllerSources(options.controller, options.informers, (trigger) => this.#trigger(trigger));
    options.shards?.onTaken((shard) => this.#triggerShard(shard));
  }

  get name(): string {
    return this.#options.controller.name;
  }

  /** Adds a source while the controller runs, or before. */
  addSource(source: WatchSource | ChannelSource): void {
    this.#sources.add(source);
  }

  get isIdle(): boolean {
    return this.#queue.runningCount === 0;
  }

  /** Reconciles until `signal` aborts, then until the reconciles that run have ended. */
  async run(signal: AbortSignal): Promise<void> {
    const close = (): void => this.#queue.close();
    signal.addEventListener('abort', close, { once: true });
    if (signal.aborted) close();
    const { concurrency = 1 } = this.#options.controller;
    try {
      if (await this.#isSynced(signal))
        await Promise.all(Array.from({ length: concurrency }, () => this.#work(signal)));
    } finally {
      signal.removeEventListener('abort', close);
      this.#sources.removeAll();
    }
  }

  /** A kind that is missing may come at any time; until then this controller waits, and others work. */
  async #isSynced(signal: AbortSignal): Promise<boolean> {
    try {
      await unlessAborted(this.#sources.synced(), signal);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }

  status(): ControllerStatus {
    return {
      name: this.name,
      type: this.#options.controller.for,
      waiting: this.#queue.length,
      running: this.#queue.runningCount,
      delayed: this.#queue.delayedCount,
      reconciles: this.#reconciles,
      failures: this.#failures,
      deadlinesMissed: this.#deadlinesMissed,
      keys: this.#history.all(),
    };
  }

  async #work(stop: AbortSignal): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      this.#sources.taken(key);
      if (this.#options.shards?.owns(key) === false) {
        this.#history.forget(key);
        this.#queue.done(key);
        continue;
      }
      await this.#reconcile(key, stop);
      this.#queue.done(key);
    }
  }

  #trigger(trigger: Trigger): void {
    const held = trigger.ownUpdate === undefined ? undefined : this.#heldUpdates.get(trigger.key);
    // It could not run before the reconcile has ended anyhow, and then it is known whose the update was.
    if (held === undefined) this.#add(trigger);
    else held.push(trigger);
  }

  /** What was written by the reconcile that ended asks for nothing; what anybody else wrote meanwhile does. */
  #releaseUpdates(key: string, result?: ReconcileResult): void {
    const held = this.#heldUpdates.get(key) ?? [];
    this.#heldUpdates.delete(key);
    for (const trigger of held) {
      const { from, to } = trigger.ownUpdate ?? {};
      if (result?.ownChanges?.some((own) => own.from === from && own.to === to) !== true) this.#add(trigger);
    }
  }

  #add({ key, cause, priority, change }: Trigger): void {
    this.#history.trigger(key, cause, change);
    if (change !== undefined) this.#hotLoops.noteTrigger(key, change);
    const { debounceMs = 0 } = this.#options.controller;
    this.#queue.addAfter(key, Math.max(debounceMs, this.#hotLoops.penaltyMs(key)), priority + this.#urgency(key));
  }

  #urgency(key: string): number {
    const { controller, informers } = this.#options;
    return controller.priority?.(parseKey(key), informers) ?? 0;
  }

  /** Whatever happened to its keys while they were another process's. */
  #triggerShard(shard: number): void {
    const { shards, informers, controller } = this.#options;
    for (const object of informers.watch(controller.for).list()) {
      const key = formatKey(keyOf(object));
      if (shards?.shardOf(key) !== shard) continue;
      this.#history.trigger(key, `shard ${shard} became this process's`);
      this.#queue.add(key, this.#urgency(key));
    }
  }

  #noteWrite(
    key: string,
    log: Log,
    type: ResourceType,
    before: KubernetesObject | undefined,
    after: KubernetesObject,
  ): void {
    const loop = this.#hotLoops.noteWrite(key, `${type.kind} ${formatKey(keyOf(after))}`, before, after);
    if (loop === undefined) return;
    const message = `${loop}; controller ${this.name} is slowed down for ${key}: a reconcile must write nothing when nothing has changed`;
    log.warn(message);
    const { events, informers, controller } = this.#options;
    const object = informers.get(controller.for, parseKey(key));
    if (object !== undefined) events.record(object, { type: 'Warning', reason: 'WritesInALoop', message });
  }

  /** What a reconcile of `key` may have read, the likeliest first. */
  *#readObjects(key: string): Generator<KubernetesObject, void, undefined> {
    const { informers, controller } = this.#options;
    const object = informers.get(controller.for, parseKey(key));
    if (object !== undefined) yield object;
    for (const type of controller.owns ?? []) yield* informers.ownedBy(type, object?.metadata.uid ?? '');
    for (const informer of informers.all()) yield* informer.list();
  }

  /** One reconcile of one key, and what is to become of the key. Never throws. */
  async #reconcile(key: string, stop: AbortSignal): Promise<void> {
    const { controller, observer } = this.#options;
    this.#reconciles += 1;
    const { cause, changed } = this.#history.takeTrigger(key);
    const start = { controller: controller.name, key, trigger: cause, id: this.#reconciles };
    const { shards } = this.#options;
    const once = () => this.#reconcileOnce(start, changed, stop);
    const run = shards === undefined ? once : () => shards.during(key, once);
    const end = await (observer?.around?.(start, run) ?? run());
    observer?.reconcileEnded?.(start, end);
  }

  async #reconcileOnce(start: ReconcileStart, changed: readonly string[], stop: AbortSignal): Promise<ReconcileEnd> {
    const { controller, world, informers, events } = this.#options;
    const { key, trigger } = start;
    const log = logWith(this.#options.log, { controller: controller.name, key, reconcile: start.id });
    const startedMs = world.clock.monotonicNow();
    const tookMs = () => world.clock.monotonicNow() - startedMs;
    const writes: string[] = [];
    const cacheRevision = informers.watch(controller.for).revision;
    const failures = this.#queue.failures(key);
    const begun = { key, trigger, changed, at: world.clock.now(), cacheRevision, writes, failures };
    this.#history.set({ ...begun, outcome: 'running' });
    log.debug('reconcile', { trigger });
    this.#heldUpdates.set(key, []);
    const deadline = startDeadline(
      world.clock,
      controller.deadlineMs ?? 60_000,
      `the reconcile of ${key} by ${controller.name} to end`,
      stop,
    );
    // A reconcile may write many objects at once, and each write listens to it.
    setMaxListeners(0, deadline.signal);
    const client = new TrackedClient(this.#options.client, informers, deadline.signal, (type, before, after) => {
      if (writes.length < mostWritesTold) writes.push(sayWrite(type, before, after));
      this.#noteWrite(key, log, type, before, after);
    });
    try {
      const context = { client, cache: informers, world, signal: deadline.signal, log, events };
      const result = await controller.reconcile(parseKey(key), context);
      // One that goes on after its deadline has failed, whatever it returns: it must be seen, not hidden by success.
      if (deadline.isPassed) throw deadline.signal.reason;
      assertResult(result, controller.name);
      this.#releaseUpdates(key, result);
      this.#succeeded(key, result);
      const message = result?.decision?.reason;
      const end = { outcome: 'done', tookMs: tookMs(), ...requeueOf(result) } as const;
      this.#history.set({ ...begun, ...end, failures: 0, ...(result?.decision && { decision: result.decision }) });
      const isGone = informers.get(controller.for, parseKey(key)) === undefined;
      if (isGone && result === undefined) this.#history.forget(key);
      return { ...end, isDeadlineMissed: false, ...(message !== undefined && { message }) };
    } catch (error) {
      if (stop.aborted) return { outcome: 'stopped', tookMs: tookMs(), isDeadlineMissed: false };
      const isDeadlineMissed = deadline.isPassed;
      if (isDeadlineMissed) this.#deadlinesMissed += 1;
      const cause = isDeadlineMissed ? deadline.signal.reason : error;
      const failure = explainFrozenWrite(cause, this.#readObjects(key)) ?? cause;
      const end = { outcome: this.#failed(key, failure, log), tookMs: tookMs() } as const;
      const message = errorMessage(failure);
      this.#history.set({ ...begun, ...end, error: message, failures: this.#queue.failures(key) });
      return { ...end, isDeadlineMissed, message };
    } finally {
      this.#releaseUpdates(key);
      deadline.dispose();
    }
  }

  #succeeded(key: string, result: ReconcileResult): void {
    this.#queue.forget(key);
    if (result?.requeueAfterMs === undefined) return;
    // Fractions add up to times that are never quite reached: "in 0.00000001 ms" would be now, again and again.
    const afterMs = Math.ceil(result.requeueAfterMs);
    this.#history.trigger(key, `${afterMs} ms after the last time`);
    this.#queue.addAfter(key, Math.max(afterMs, this.#hotLoops.penaltyMs(key)), this.#queue.priorityOf(key));
  }

  #failed(key: string, error: unknown, log: Log): 'failed' | 'terminal' {
    this.#failures += 1;
    const isTerminal = error instanceof TerminalError;
    if (isTerminal) {
      log.error(`reconcile failed and is not tried again until something changes: ${error.message}`);
    } else {
      this.#queue.retry(key);
      const failures = this.#queue.failures(key);
      this.#history.trigger(key, `retry ${failures} after: ${errorMessage(error)}`);
      // Somebody else wrote meanwhile: the usual way of things, and the retry reads what they wrote.
      if (isStatusError(error, 'Conflict')) log.debug(`reconcile lost a race: ${error.message}`);
      else log.warn(`reconcile failed: ${errorMessage(error)}`, { failures });
    }
    try {
      this.#options.onError?.(error, { controller: this.name, key });
    } catch (hookError) {
      log.error(`onError failed: ${errorMessage(hookError)}`);
    }
    return isTerminal ? 'terminal' : 'failed';
  }
}

/** Of one reconcile; enough to see what it is about. */
const mostWritesTold = 20;
const mostFieldsTold = 5;

function sayWrite(type: ResourceType, before: KubernetesObject | undefined, after: KubernetesObject): string {
  const what = `${type.kind} ${formatKey(keyOf(after))}`;
  if (before === undefined) return `created ${what}`;
  const paths = changedFields(before, after).map(({ path }) => path);
  return `updated ${what}: ${paths.slice(0, mostFieldsTold).join(', ')}${paths.length > mostFieldsTold ? ', …' : ''}`;
}

function requeueOf(result: ReconcileResult): { readonly requeueAfterMs?: number } {
  return result?.requeueAfterMs === undefined ? {} : { requeueAfterMs: result.requeueAfterMs };
}
