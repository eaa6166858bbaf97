import type { Client } from '@castellan/client';
import type { World } from '@castellan/world';
import type { Controller, Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import { logWith } from '../log.js';
import { createManager, type Manager, type ManagerOptions } from './manager.js';

/** A cluster as the members of a fleet know it. */
export interface FleetCluster {
  /** Unique in the fleet; in each line of its log. */
  readonly name: string;
  readonly client: Client;
}

export interface FleetOptions
  extends Omit<ManagerOptions, 'client' | 'world' | 'log' | 'controllers' | 'leaderElection' | 'sharding'> {
  readonly world: World;
  readonly log: Log;
  /** Those of one cluster: new ones each time, as what they hold in memory is about that cluster. */
  controllers(cluster: FleetCluster): readonly Controller[];
}

/** One program over several clusters, each with a manager of its own: none waits for another, nor ends with it. */
export interface Fleet {
  /** Works on one more cluster, at once when the fleet runs. Fails when the name is taken. */
  engage(cluster: FleetCluster): void;
  /** Ends the work on a cluster, and resolves when nothing of it runs any more. Its client is the caller's to close. */
  disengage(name: string): Promise<void>;
  /** Those that run now, by the names of their clusters. */
  managers(): ReadonlyMap<string, Manager>;
  /** Until `signal` aborts. A cluster that fails is tried again, after 1 s at first and up to a minute. Runs once. */
  run(signal: AbortSignal): Promise<void>;
}

const firstRestMs = 1_000;
const longestRestMs = 60_000;

export function createFleet(options: FleetOptions): Fleet {
  return new ManagedFleet(options);
}

interface Engagement {
  readonly cluster: FleetCluster;
  readonly ending: AbortController;
  ended: Promise<void>;
}

class ManagedFleet implements Fleet {
  readonly #options: FleetOptions;
  readonly #engaged = new Map<string, Engagement>();
  readonly #managers = new Map<string, Manager>();
  #signal: AbortSignal | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  engage(cluster: FleetCluster): void {
    if (this.#engaged.has(cluster.name)) {
      throw new Error(`the fleet has a cluster ${cluster.name}: disengage it first, or give this one another name`);
    }
    const engagement: Engagement = { cluster, ending: new AbortController(), ended: Promise.resolve() };
    this.#engaged.set(cluster.name, engagement);
    if (this.#signal !== undefined) engagement.ended = this.#work(engagement, this.#signal);
  }

  async disengage(name: string): Promise<void> {
    const engagement = this.#engaged.get(name);
    if (engagement === undefined) return;
    this.#engaged.delete(name);
    engagement.ending.abort(new Error(`the fleet has let go of cluster ${name}`));
    await engagement.ended;
  }

  managers(): ReadonlyMap<string, Manager> {
    return this.#managers;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#signal !== undefined) throw new Error('this fleet was started before: a fleet runs once');
    this.#signal = signal;
    for (const engagement of this.#engaged.values()) engagement.ended = this.#work(engagement, signal);
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.all([...this.#engaged.values()].map(({ ended }) => ended));
  }

  /** Never rejects: what goes wrong with one cluster is said, and tried again. */
  async #work({ cluster, ending }: Engagement, signal: AbortSignal): Promise<void> {
    const { controllers, world, log, ...options } = this.#options;
    const { name, client } = cluster;
    const until = AbortSignal.any([signal, ending.signal]);
    const clusterLog = logWith(log, { cluster: name });
    for (let restMs = firstRestMs; !until.aborted; restMs = Math.min(2 * restMs, longestRestMs)) {
      const startedMs = world.clock.monotonicNow();
      const manager = createManager({ ...options, client, world, log: clusterLog, controllers: controllers(cluster) });
      this.#managers.set(name, manager);
      try {
        manager.ready().catch(() => undefined);
        await manager.run(until);
      } catch (error) {
        if (until.aborted) return;
        // It had worked: the next failure is another one.
        if (world.clock.monotonicNow() - startedMs > longestRestMs) restMs = firstRestMs;
        clusterLog.error(`the work on cluster ${name} failed and is begun anew: ${errorMessage(error)}`, { restMs });
      } finally {
        this.#managers.delete(name);
      }
      await world.clock.sleep(restMs * (1 + 0.2 * world.random.next()), until).catch(() => undefined);
    }
  }
}
