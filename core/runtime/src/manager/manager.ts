import { setMaxListeners } from 'node:events';
import { type Client, startDeadline, unlessAborted } from '@castellan/client';
import { type KubernetesObject, resourceName } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { CacheIndex } from '../cache/cache-index.js';
import type { Controller, Log, WatchSource } from '../controller.js';
import { deferred } from '../deferred.js';
import { EventWriter } from '../events/event-writer.js';
import type { Informer } from '../informer/informer.js';
import { type CacheStatus, InformerSet } from '../informer/informer-set.js';
import type { ManagerObserver } from '../observe/manager-observer.js';
import type { Reader } from '../reader.js';
import { type ShardingOptions, ShardKeeper } from '../sharding/shard-keeper.js';
import type { ChannelSource } from '../source/channel-source.js';
import { createWebhooks, type Webhooks } from '../webhook/create-webhooks.js';
import { ControllerRunner, type ControllerStatus } from './controller-runner.js';
import { type LeaderElectionOptions, LeaderElector } from './leader-election.js';
import type { ManagerWebhooks } from './manager-webhooks.js';

export interface ManagerOptions {
  readonly client: Client;
  readonly world: World;
  readonly controllers: readonly Controller[];
  readonly log: Log;
  /** Only the holder of a Lease reconciles; the others keep their caches warm. */
  readonly leaderElection?: LeaderElectionOptions;
  /** Several processes share the keys: each has some of them. Instead of leader election. */
  readonly sharding?: ShardingOptions;
  /** Answered by every process, leader or not, from before the caches fill until after they end. */
  readonly webhooks?: ManagerWebhooks;
  /** Indexes of caches, besides those of the controllers. */
  readonly indexes?: readonly CacheIndex[];
  /** Watches this namespace only. */
  readonly namespace?: string;
  /**
   * Says aloud that all Pods, ConfigMaps and Secrets of the cluster may be held in full where a controller asks for that.
   * A manager refuses it otherwise; `pick`, `metadataOf` and `cached` make less of it.
   */
  readonly wholeCache?: boolean;
  /** The first lists of everything watched must be there within this time; 2 min by default. */
  readonly syncDeadlineMs?: number;
  /** The longest wait between two tries of one key; 30 s by default. */
  readonly longestRetryMs?: number;
  /** Asks for collections as the beginning of their watch (KEP-3157) where the server offers it; true by default. */
  readonly usesWatchList?: boolean;
  readonly onError?: (error: unknown, where: { readonly controller: string; readonly key: string }) => void;
  /** Told of all that the manager does; see `managerMetrics` and `spanObserver`. */
  readonly observer?: ManagerObserver;
}

export interface Manager {
  /**
   * Runs all controllers until `signal` aborts, then ends what runs, in at most 30 s. Rejects when a part fails or the
   * lease is lost: then nothing of it runs any more. Runs once.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Cached reads of every kind that is watched; complete once `ready`. */
  readonly cache: Reader;
  /** All caches are complete, but for those of kinds that are not served: their controllers wait; and webhooks are answered. Rejects when `run` ends before. */
  ready(): Promise<void>;
  status(): ManagerStatus;
  /** What is wrong with it, such that the process should be started anew; `undefined` when nothing is. */
  health(): string | undefined;
  /**
   * Gives a controller one more source, while it runs or before. What the source's cache holds asks for keys as its first
   * list comes in; the controller does not wait for it. Fails once the manager stops.
   */
  addSource(controller: string, source: WatchSource | ChannelSource): void;
}

export interface ManagerStatus {
  /** All caches are complete. */
  readonly isReady: boolean;
  /** Whether webhooks are answered and the API server knows where; absent where there are none. */
  readonly areWebhooksReady?: boolean;
  /** True without leader election as well, once controllers run. */
  readonly isLeader: boolean;
  readonly controllers: readonly ControllerStatus[];
  /** One for each type and part of it that is watched. */
  readonly caches: readonly CacheStatus[];
}

const drainMs = 30_000;
const eventFlushMs = 5_000;

/**
 * Runs controllers over one client: one informer per type for all of them, a queue for each.
 *
 * Start: webhooks, then caches, then leadership, then reconciles. Stop is the reverse: reconciles end, events are written,
 * caches and connections end, webhooks too, and the lease is given up last.
 */
export function createManager(options: ManagerOptions): Manager {
  return new ControllerManager(options);
}

class ControllerManager implements Manager {
  readonly #options: ManagerOptions;
  readonly #informers: InformerSet;
  readonly #events: EventWriter;
  readonly #runners: readonly ControllerRunner[];
  readonly #ready = deferred();
  readonly #shards: ShardKeeper | undefined;
  readonly #webhooks: Webhooks | undefined;
  #elector: LeaderElector | undefined;
  /** For informers that are added while the manager runs. */
  #startInformer: ((informer: Informer<KubernetesObject>) => void) | undefined;
  #parts: Parts | undefined;
  #isStarted = false;
  #isReady = false;
  #isLeader = false;
  #areWebhooksReady = false;

  constructor(options: ManagerOptions) {
    this.#options = options;
    const { client, world, log, namespace, usesWatchList, wholeCache } = options;
    this.#informers = new InformerSet({
      client,
      world,
      log,
      ...(namespace === undefined ? {} : { namespace }),
      ...(usesWatchList === undefined ? {} : { usesWatchList }),
      ...(wholeCache === undefined ? {} : { wholeCache }),
    });
    for (const index of options.indexes ?? []) this.#informers.addIndex(index);
    this.#events = new EventWriter({ client, world, log });
    if (options.sharding !== undefined && options.leaderElection !== undefined) {
      throw new Error(
        'a manager has leaderElection or sharding, not both: with sharding each process works on its share',
      );
    }
    this.#webhooks = options.webhooks && this.#webhooksOf(options.webhooks);
    this.#shards = options.sharding && new ShardKeeper({ ...options.sharding, client, world, log });
    this.#runners = options.controllers.map(
      (controller) =>
        new ControllerRunner({
          controller,
          client,
          world,
          log,
          informers: this.#informers,
          events: this.#events.recorder(controller.name),
          longestRetryMs: options.longestRetryMs ?? 30_000,
          ...(options.onError === undefined ? {} : { onError: options.onError }),
          ...(options.observer === undefined ? {} : { observer: options.observer }),
          ...(this.#shards === undefined ? {} : { shards: this.#shards }),
        }),
    );
  }

  get cache(): Reader {
    return this.#informers;
  }

  ready(): Promise<void> {
    return this.#ready.promise;
  }

  status(): ManagerStatus {
    return {
      isReady: this.#isReady,
      isLeader: this.#isLeader,
      ...(this.#webhooks === undefined ? {} : { areWebhooksReady: this.#areWebhooksReady }),
      controllers: this.#runners.map((runner) => runner.status()),
      caches: this.#informers.status(),
    };
  }

  health(): string | undefined {
    return this.#elector?.health();
  }

  addSource(controller: string, source: WatchSource | ChannelSource): void {
    if (this.#parts?.signal.aborted === true) {
      throw new Error(`this manager is stopping: it takes no source for ${controller} any more`);
    }
    const runner = this.#runners.find(({ name }) => name === controller);
    if (runner === undefined) {
      const names = this.#runners.map(({ name }) => name).join(', ');
      throw new Error(`no controller of this manager is called ${controller} (there are: ${names})`);
    }
    const isNew = 'type' in source && this.#informers.find(source.type) === undefined;
    runner.addSource(source);
    if (isNew) this.#startInformer?.(this.#informers.watch(source.type));
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#isStarted) throw new Error('this manager was started before: a manager runs once');
    this.#isStarted = true;
    const parts = new Parts(signal);
    this.#parts = parts;
    const answering = new AbortController();
    const webhooks = this.#webhooks && parts.watch(this.#webhooks.run(answering.signal));
    // Objects that are converted cannot be listed before.
    if (this.#webhooks !== undefined) await unlessAborted(this.#webhooks.begun(), parts.signal).catch(() => undefined);
    const caches = new AbortController();
    // Every informer listens to it.
    setMaxListeners(0, caches.signal);
    const informers: Promise<void>[] = [];
    const startInformer = (informer: Informer<KubernetesObject>): void => {
      informers.push(parts.watch(informer.run(caches.signal)));
    };
    for (const informer of this.#informers.all()) startInformer(informer);
    this.#startInformer = startInformer;
    const events = parts.watch(this.#events.run());
    await parts.watch(this.#main(parts));
    this.#ready.reject(parts.errors[0] ?? new Error('the manager was stopped before its caches were complete'));
    this.#startInformer = undefined;
    caches.abort(new Error('the manager stops'));
    this.#events.close(eventFlushMs);
    await Promise.all([...informers, events]);
    answering.abort(new Error('the manager stops'));
    await webhooks;
    await this.#elector?.release();
    await this.#shards?.release();
    parts.end();
  }

  async #main(parts: Parts): Promise<void> {
    const { client, world, log, leaderElection } = this.#options;
    await this.#synced(parts.signal);
    this.#isReady = true;
    if (this.#webhooks === undefined) this.#ready.resolve();
    // The leader makes their certificates: nobody would lead if that were waited for.
    else this.#webhooks.ready().then(this.#ready.resolve, () => undefined);
    if (this.#shards !== undefined) return this.#reconcileShards(this.#shards, parts);
    if (leaderElection === undefined) return this.#reconcile(parts);
    this.#elector = new LeaderElector({ ...leaderElection, client, world, log });
    const { observer } = this.#options;
    observer?.leadershipChanged?.(leaderElection.name, false);
    await this.#elector.run(async (leading) => {
      observer?.leadershipChanged?.(leaderElection.name, true);
      await this.#reconcile(parts, leading);
      observer?.leadershipChanged?.(leaderElection.name, false);
    }, parts.signal);
  }

  #webhooksOf(options: ManagerWebhooks): Webhooks {
    const { client, world, log, observer, leaderElection } = this.#options;
    const { certificates } = options;
    const isLeader = () => leaderElection === undefined || this.#isLeader;
    const webhooks = createWebhooks({
      ...options,
      client,
      world,
      log,
      ...(observer === undefined ? {} : { observer }),
      certificates: 'secret' in certificates ? { ...certificates, isLeader } : certificates,
    });
    webhooks.ready().then(
      () => {
        this.#areWebhooksReady = true;
      },
      () => undefined,
    );
    return webhooks;
  }

  /** Shards are kept until the last reconcile has ended: until then nobody else may have them. */
  async #reconcileShards(shards: ShardKeeper, parts: Parts): Promise<void> {
    const ending = new AbortController();
    const kept = parts.watch(shards.run(ending.signal));
    await this.#reconcile(parts);
    ending.abort(new Error('the reconciles have ended'));
    await kept;
  }

  async #synced(signal: AbortSignal): Promise<void> {
    const deadlineMs = this.#options.syncDeadlineMs ?? 120_000;
    const informers = this.#informers.all();
    const missing = (): string => {
      const types = informers.filter(({ isSynced }) => !isSynced).map(({ type }) => resourceName(type));
      return `the first list of ${types.join(', ')}`;
    };
    const deadline = startDeadline(this.#options.world.clock, deadlineMs, 'the caches', signal);
    try {
      await unlessAborted(Promise.all(informers.map((informer) => informer.whenKnown())), deadline.signal);
    } catch (error) {
      if (!deadline.isPassed) throw error;
      throw new Error(
        `${missing()} did not come within ${deadlineMs / 1_000} s: see the log for why; it may not be allowed`,
        { cause: error },
      );
    } finally {
      deadline.dispose();
    }
  }

  /** Runs all controllers until something aborts, and then waits for the reconciles that run. */
  async #reconcile(parts: Parts, leading: AbortSignal = parts.signal): Promise<void> {
    this.#isLeader = true;
    const running = this.#runners.map((runner) => parts.watch(runner.run(leading)));
    await new Promise<void>((resolve) => {
      if (leading.aborted) resolve();
      else leading.addEventListener('abort', () => resolve(), { once: true });
    });
    this.#isLeader = false;
    const deadline = startDeadline(this.#options.world.clock, drainMs, 'the reconciles that run to end');
    try {
      await unlessAborted(Promise.all(running), deadline.signal);
    } catch {
      const names = this.#runners.filter(({ isIdle }) => !isIdle).map(({ name }) => name);
      this.#options.log.error(`reconciles of ${names.join(', ')} do not end; they are left behind after 30 s`);
    } finally {
      deadline.dispose();
    }
  }
}

/** The parts of a manager that run at the same time: when one fails, `signal` tells all to stop, and why is kept. */
class Parts {
  readonly errors: unknown[] = [];
  readonly #stop = new AbortController();
  readonly #parent: AbortSignal;
  readonly #onParentAbort = (): void => this.#stop.abort(this.#parent.reason);

  constructor(parent: AbortSignal) {
    this.#parent = parent;
    // Every worker of every controller listens to it: Node takes more than ten listeners for a leak.
    setMaxListeners(0, this.#stop.signal);
    parent.addEventListener('abort', this.#onParentAbort, { once: true });
    if (parent.aborted) this.#onParentAbort();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** What a part throws because it was told to stop is not an error. */
  async watch(part: Promise<void>): Promise<void> {
    try {
      await part;
    } catch (error) {
      if (this.signal.aborted && error === this.signal.reason) return;
      this.errors.push(error);
      this.#stop.abort(error);
    }
  }

  end(): void {
    this.#parent.removeEventListener('abort', this.#onParentAbort);
    if (this.errors.length === 1) throw this.errors[0];
    if (this.errors.length > 1) throw new AggregateError(this.errors, this.errors.map(String).join('; '));
  }
}
