import { type Client, startDeadline } from '@castellan/client';
import { isStatusError, type Lease, leases } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';
import { rendezvous, shardOf } from './rendezvous.js';

/**
 * Several processes share the keys of a manager: each key belongs to a shard, each shard to one process. Processes find
 * each other by a Lease that each renews; who has a shard is written in a Lease of the shard, which another process takes
 * only when it was given up, or when its holder's own Lease was seen unchanged for `leaseMs` by this process's clock.
 *
 * What this does not guarantee: as with leader election, a process that is suspended may go on for a moment with a shard
 * that another has taken, so a step that must not be made twice needs a condition of its own.
 */
export interface ShardingOptions {
  /** Of the group of processes; part of the names of its Leases. */
  readonly name: string;
  readonly namespace: string;
  /** Unique to this process, and fit for the name of an object, such as the pod's name. */
  readonly identity: string;
  /** The same in all processes; 32 by default. Many more than processes, so that each has about as many as another. */
  readonly shards?: number;
  /** A process that is silent for so long has ended; 15 s. */
  readonly leaseMs?: number;
  /** A process that could not renew its Lease for so long stops its work; 10 s. Less than `leaseMs`. */
  readonly renewMs?: number;
  /** Between two renewals; 2 s. */
  readonly retryMs?: number;
}

/** Its Lease could not be renewed in time: others may have its shards by now. */
export class ShardsLostError extends Error {
  override readonly name = 'ShardsLostError';
}

interface KeeperOptions extends ShardingOptions {
  readonly client: Client;
  readonly world: World;
  readonly log: Log;
}

const groupLabel = 'castellan.dev/shards-of';
const roleLabel = 'castellan.dev/lease-of';

/** Keeps the shards that are this process's, and knows which those are. */
export class ShardKeeper {
  readonly #options: Required<KeeperOptions>;
  readonly #held = new Map<number, Lease>();
  /** Reconciles that run, by shard: a shard is not given up while there are any. */
  readonly #running = new Map<number, number>();
  readonly #listeners = new Set<(shard: number) => void>();
  /** Leases of processes as last seen, and when that was first seen. */
  readonly #seen = new Map<string, { readonly lease: Lease; readonly atMs: number }>();
  #own: Lease | undefined;
  #renewedMs = 0;

  constructor(options: KeeperOptions) {
    this.#options = { shards: 32, leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000, ...options };
    const { leaseMs, renewMs, retryMs, shards } = this.#options;
    if (!(leaseMs > renewMs && renewMs > 1.2 * retryMs)) {
      throw new Error(
        `sharding: leaseMs (${leaseMs}) must be more than renewMs (${renewMs}), and that more than 1.2 × retryMs (${retryMs})`,
      );
    }
    if (!Number.isInteger(shards) || shards < 1)
      throw new Error(`sharding: ${shards} shards; there must be at least 1`);
  }

  /** Whether a key may be worked on now. */
  owns(key: string): boolean {
    const { world, renewMs, shards } = this.#options;
    if (world.clock.monotonicNow() - this.#renewedMs >= renewMs) return false;
    const shard = shardOf(key, shards);
    return this.#held.has(shard) && this.#wantsToKeep(shard);
  }

  /** Called with each shard that has become this process's: its keys are to be looked at. */
  onTaken(listener: (shard: number) => void): void {
    this.#listeners.add(listener);
  }

  /** The shards that are this process's, sorted. */
  get shards(): readonly number[] {
    return [...this.#held.keys()].toSorted((one, other) => one - other);
  }

  shardOf(key: string): number {
    return shardOf(key, this.#options.shards);
  }

  /** Brackets the work on a key that is owned. */
  async during<T>(key: string, work: () => Promise<T>): Promise<T> {
    const shard = shardOf(key, this.#options.shards);
    this.#running.set(shard, (this.#running.get(shard) ?? 0) + 1);
    try {
      return await work();
    } finally {
      this.#running.set(shard, (this.#running.get(shard) ?? 1) - 1);
    }
  }

  /**
   * Takes, keeps and gives up shards until `signal` aborts. Rejects with ShardsLostError when the Lease of this process could
   * not be renewed within `renewMs`.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { world, log, renewMs, retryMs } = this.#options;
    const { clock } = world;
    this.#renewedMs = clock.monotonicNow() - renewMs;
    let hasRenewed = false;
    while (!signal.aborted) {
      const attemptMs = clock.monotonicNow();
      const deadline = startDeadline(clock, renewMs, 'the leases of shards to be written', signal);
      try {
        await this.#renew(deadline.signal);
        this.#renewedMs = attemptMs;
        hasRenewed = true;
        await this.#balance(deadline.signal);
      } catch (error) {
        if (signal.aborted) break;
        log.warn(`the leases of shards could not be read or written: ${errorMessage(error)}`);
      } finally {
        deadline.dispose();
      }
      if (hasRenewed && clock.monotonicNow() - this.#renewedMs >= renewMs) {
        this.#held.clear();
        throw new ShardsLostError(`the lease of this process could not be renewed for ${renewMs / 1_000} s`);
      }
      await clock.sleep(retryMs * (1 + 0.2 * world.random.next()), signal).catch(() => undefined);
    }
  }

  /** Gives everything up, so that others need not wait; what is not given up runs out. */
  async release(): Promise<void> {
    const { client, world, log, namespace } = this.#options;
    const deadline = startDeadline(world.clock, 5_000, 'the shards to be given up');
    try {
      for (const shard of this.shards) await this.#giveUp(shard, deadline.signal);
      const name = this.#own?.metadata.name;
      if (name !== undefined) await client.delete(leases, { namespace, name }, { signal: deadline.signal });
    } catch (error) {
      log.warn(`the shards were not given up: ${errorMessage(error)}`);
    } finally {
      deadline.dispose();
      this.#held.clear();
    }
  }

  /** A process's own Lease says that it lives. */
  async #renew(signal: AbortSignal): Promise<void> {
    const { client, namespace, name, identity, leaseMs } = this.#options;
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
      renewTime: this.#nowText(),
    };
    if (this.#own !== undefined) {
      try {
        this.#own = await client.update(leases, { ...this.#own, spec }, { signal });
        return;
      } catch (error) {
        if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
      }
    }
    const metadata = { namespace, name: `${name}-${identity}`, labels: this.#labels('process') };
    const found = await client.find(leases, { namespace, name: metadata.name }, { signal });
    const lease = { metadata: { ...found?.metadata, ...metadata }, spec };
    this.#own =
      found === undefined
        ? await client.create(leases, lease, { signal })
        : await client.update(leases, lease, { signal });
  }

  /** Takes what is to be this process's and is free, and gives up what is to be another's and is at rest. */
  async #balance(signal: AbortSignal): Promise<void> {
    const { client, namespace, name, identity, shards } = this.#options;
    const listed = await client.list(leases, { namespace, labelSelector: `${groupLabel}=${name}`, signal });
    const byRole = (role: string) => listed.items.filter(({ metadata }) => metadata.labels?.[roleLabel] === role);
    this.#observe(byRole('process'));
    const ofShards = new Map(byRole('shard').map((lease) => [lease.metadata.name, lease]));
    for (let shard = 0; shard < shards; shard++) {
      const lease = ofShards.get(this.#shardName(shard));
      const holder = lease?.spec?.holderIdentity ?? '';
      // Somebody, who held this process for dead, has taken it.
      if (this.#held.has(shard) && holder !== identity) this.#held.delete(shard);
      if (!this.#wantsToKeep(shard)) {
        if (this.#held.has(shard) && (this.#running.get(shard) ?? 0) === 0) await this.#giveUp(shard, signal);
      } else if (!this.#held.has(shard) && (holder === '' || holder === identity || !this.#isAlive(holder))) {
        await this.#take(shard, lease, signal);
      }
    }
  }

  #wantsToKeep(shard: number): boolean {
    const alive = [...this.#seen.values()].flatMap(({ lease }) => lease.spec?.holderIdentity ?? []);
    const members = alive.filter((identity) => this.#isAlive(identity));
    return rendezvous(shard, [...new Set([...members, this.#options.identity])]) === this.#options.identity;
  }

  #observe(found: readonly Lease[]): void {
    const names = new Set(found.map(({ metadata }) => metadata.name ?? ''));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    for (const lease of found) {
      const name = lease.metadata.name ?? '';
      if (this.#seen.get(name)?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) continue;
      this.#seen.set(name, { lease, atMs: this.#options.world.clock.monotonicNow() });
    }
  }

  /** A process that gave its Lease up is dead at once; one that is silent, after `leaseMs` of our own time. */
  #isAlive(identity: string): boolean {
    const { world, leaseMs } = this.#options;
    const now = world.clock.monotonicNow();
    return [...this.#seen.values()].some(
      ({ lease, atMs }) => lease.spec?.holderIdentity === identity && now - atMs < leaseMs,
    );
  }

  async #take(shard: number, present: Lease | undefined, signal: AbortSignal): Promise<void> {
    const { client, namespace, identity } = this.#options;
    const nowText = this.#nowText();
    const transitions = present?.spec?.leaseTransitions ?? 0;
    const isOurs = present?.spec?.holderIdentity === identity;
    const spec = {
      holderIdentity: identity,
      acquireTime: nowText,
      leaseTransitions: present === undefined || isOurs ? transitions : transitions + 1,
    };
    const metadata = { namespace, name: this.#shardName(shard), labels: this.#labels('shard') };
    try {
      // Only the very Lease that was seen: of two who take it one fails.
      const taken =
        present === undefined
          ? await client.create(leases, { metadata, spec }, { signal })
          : await client.update(leases, { ...present, spec }, { signal });
      this.#held.set(shard, taken);
      for (const listener of this.#listeners) listener(shard);
    } catch (error) {
      if (!isStatusError(error, 'Conflict', 'AlreadyExists', 'NotFound')) throw error;
    }
  }

  async #giveUp(shard: number, signal: AbortSignal): Promise<void> {
    const lease = this.#held.get(shard);
    this.#held.delete(shard);
    if (lease === undefined) return;
    try {
      await this.#options.client.update(leases, { ...lease, spec: { ...lease.spec, holderIdentity: '' } }, { signal });
    } catch (error) {
      // It is another's already.
      if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
    }
  }

  #shardName(shard: number): string {
    return `${this.#options.name}-shard-${shard}`;
  }

  #labels(role: 'process' | 'shard'): Readonly<Record<string, string>> {
    return { [groupLabel]: this.#options.name, [roleLabel]: role };
  }

  /** metav1.MicroTime. */
  #nowText(): string {
    return new Date(this.#options.world.clock.now()).toISOString().replace('Z', '000Z');
  }
}
