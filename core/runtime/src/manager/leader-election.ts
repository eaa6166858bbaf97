import { type Client, startDeadline } from '@castellan/client';
import { isStatusError, type Lease, leases } from '@castellan/machinery';
import type { World } from '@castellan/world';
import type { Log } from '../controller.js';
import { errorMessage } from '../error-message.js';

/**
 * At most one of several processes leads, by a Lease in the API. What this does not guarantee: a leader that is suspended
 * or cut off may go on for a moment after another has taken over, so a step that must not be made twice needs a condition
 * of its own (a resourceVersion, the engine's own compare). Clocks need not agree: a lease is held for dead when this
 * process has seen it unchanged for its duration.
 */
export interface LeaderElectionOptions {
  /** Of the Lease. */
  readonly name: string;
  readonly namespace: string;
  /** Unique to this process, such as the pod's name and a random part. */
  readonly identity: string;
  /** How long others wait for a silent leader; 15 s. */
  readonly leaseMs?: number;
  /** A leader that could not renew for this long stops; 10 s. Less than `leaseMs`. */
  readonly renewMs?: number;
  /** Between two tries; 2 s. */
  readonly retryMs?: number;
}

/** The lease could not be renewed in time, or another holds it. */
export class LeadershipLostError extends Error {
  override readonly name = 'LeadershipLostError';
}

const healthToleranceMs = 20_000;

export class LeaderElector {
  readonly #options: Required<LeaderElectionOptions> & {
    readonly client: Client;
    readonly world: World;
    readonly log: Log;
  };
  /** The lease as last read or written, and when that was first seen. */
  #observed: { readonly lease: Lease; readonly atMs: number } | undefined;
  /** When the lease that is held was last renewed; absent while it is not held. */
  #renewedMs: number | undefined;

  constructor(options: LeaderElectionOptions & { readonly client: Client; readonly world: World; readonly log: Log }) {
    this.#options = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000, ...options };
    const { leaseMs, renewMs, retryMs } = this.#options;
    if (!(leaseMs > renewMs && renewMs > 1.2 * retryMs)) {
      throw new Error(
        `leader election: leaseMs (${leaseMs}) must be more than renewMs (${renewMs}), and that more than 1.2 × retryMs (${retryMs})`,
      );
    }
  }

  /**
   * Waits for the lease, then calls `lead` with a signal that aborts when the lease is lost or `signal` aborts, and keeps
   * the lease until `lead` has ended. Rejects with LeadershipLostError when it was lost.
   */
  async run(lead: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> {
    const { log, name, identity } = this.#options;
    await this.#acquire(signal);
    log.info(`leading: ${identity} holds the lease ${name}`);
    const leading = new AbortController();
    const onAbort = (): void => leading.abort(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    const ending = new AbortController();
    const kept = this.#keep(leading, ending.signal);
    try {
      await lead(leading.signal);
    } finally {
      ending.abort(new Error('leading has ended'));
      this.#renewedMs = undefined;
      signal.removeEventListener('abort', onAbort);
      await kept;
    }
    if (leading.signal.reason instanceof LeadershipLostError) throw leading.signal.reason;
  }

  /**
   * What is wrong when a process holds a lease that it does not renew, and yet has not stopped leading: its event loop
   * hangs, or it was suspended. `undefined` when nothing is. As client-go's LeaderHealthzAdaptor, with 20 s to spare.
   */
  health(): string | undefined {
    if (this.#renewedMs === undefined) return undefined;
    const { world, leaseMs, name } = this.#options;
    const silentMs = world.clock.monotonicNow() - this.#renewedMs;
    if (silentMs <= leaseMs + healthToleranceMs) return undefined;
    return `the lease ${name} was last renewed ${Math.round(silentMs / 1_000)} s ago`;
  }

  async #acquire(signal: AbortSignal): Promise<void> {
    const { world, retryMs, log } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await this.#tryOnce(signal)) return;
      } catch (error) {
        signal.throwIfAborted();
        log.warn(`the lease could not be read or written: ${errorMessage(error)}`);
      }
      await world.clock.sleep(retryMs * (1 + 0.2 * world.random.next()), signal);
    }
  }

  /** Renews until `ending` aborts; aborts `leading` when the lease is another's, or was not renewed within `renewMs`. */
  async #keep(leading: AbortController, ending: AbortSignal): Promise<void> {
    const { world, renewMs, retryMs, log } = this.#options;
    const { clock } = world;
    this.#renewedMs = clock.monotonicNow();
    for (let renewedMs = this.#renewedMs; !ending.aborted; ) {
      await clock.sleep(retryMs, ending).catch(() => undefined);
      const attemptMs = clock.monotonicNow();
      const deadline = startDeadline(clock, renewMs - (attemptMs - renewedMs), 'the lease to be renewed', ending);
      try {
        if (ending.aborted) return;
        if (!(await this.#tryOnce(deadline.signal))) {
          const holder = this.#observed?.lease.spec?.holderIdentity ?? 'nobody';
          leading.abort(new LeadershipLostError(`the lease is held by ${holder}`));
          return;
        }
        renewedMs = attemptMs;
        this.#renewedMs = attemptMs;
      } catch (error) {
        if (ending.aborted) return;
        log.warn(`the lease was not renewed: ${errorMessage(error)}`);
        if (clock.monotonicNow() - renewedMs < renewMs) continue;
        leading.abort(new LeadershipLostError(`the lease could not be renewed for ${renewMs / 1_000} s`));
        return;
      } finally {
        deadline.dispose();
      }
    }
  }

  /** Takes or renews the lease if it is free, dead or ours. A renewal writes without reading first. */
  async #tryOnce(signal: AbortSignal): Promise<boolean> {
    const { identity } = this.#options;
    if (this.#observed?.lease.spec?.holderIdentity === identity) {
      try {
        return await this.#write(this.#observed.lease, signal);
      } catch (error) {
        if (!isStatusError(error, 'Conflict', 'NotFound')) throw error;
      }
    }
    const { client, namespace, name } = this.#options;
    const found = await client.find(leases, { namespace, name }, { signal });
    if (found === undefined) return this.#create(signal);
    this.#observe(found);
    return this.#isFree(found) ? this.#writeOrLose(found, signal) : false;
  }

  #isFree(lease: Lease): boolean {
    const { world, identity, leaseMs } = this.#options;
    const { holderIdentity = '', leaseDurationSeconds } = lease.spec ?? {};
    if (holderIdentity === '' || holderIdentity === identity) return true;
    const durationMs = leaseDurationSeconds === undefined ? leaseMs : leaseDurationSeconds * 1_000;
    return world.clock.monotonicNow() - (this.#observed?.atMs ?? 0) > durationMs;
  }

  /** A lease that says the same as before was not renewed: the time of the first sight of it counts. */
  #observe(lease: Lease): void {
    const isSame = this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
    if (!isSame) this.#observed = { lease, atMs: this.#options.world.clock.monotonicNow() };
  }

  async #create(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, name } = this.#options;
    const nowText = this.#nowText();
    try {
      const lease: Lease = {
        metadata: { namespace, name },
        spec: { ...this.#claim(nowText), acquireTime: nowText, leaseTransitions: 0 },
      };
      this.#observe(await client.create(leases, lease, { signal }));
      return true;
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return false;
      throw error;
    }
  }

  async #writeOrLose(lease: Lease, signal: AbortSignal): Promise<boolean> {
    try {
      return await this.#write(lease, signal);
    } catch (error) {
      if (isStatusError(error, 'Conflict')) return false;
      throw error;
    }
  }

  async #write(lease: Lease, signal: AbortSignal): Promise<boolean> {
    const { client, identity } = this.#options;
    const nowText = this.#nowText();
    const { holderIdentity, leaseTransitions = 0, acquireTime } = lease.spec ?? {};
    const isOurs = holderIdentity === identity;
    const spec = {
      ...this.#claim(nowText),
      acquireTime: isOurs ? (acquireTime ?? nowText) : nowText,
      leaseTransitions: isOurs ? leaseTransitions : leaseTransitions + 1,
    };
    this.#observe(await client.update(leases, { ...lease, spec }, { signal }));
    return true;
  }

  #claim(nowText: string) {
    const { identity, leaseMs } = this.#options;
    return { holderIdentity: identity, leaseDurationSeconds: Math.ceil(leaseMs / 1_000), renewTime: nowText };
  }

  /** Gives the lease up, so that a successor need not wait for it to run out; when that fails, it runs out. */
  async release(): Promise<void> {
    const { client, world, identity, namespace, name, log } = this.#options;
    const deadline = startDeadline(world.clock, 5_000, 'the lease to be given up');
    try {
      for (let tries = 0; tries < 3; tries += 1) {
        const lease = await client.find(leases, { namespace, name }, { signal: deadline.signal });
        if (lease?.spec?.holderIdentity !== identity) return;
        const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: this.#nowText() };
        try {
          await client.update(leases, { ...lease, spec }, { signal: deadline.signal });
          return;
        } catch (error) {
          if (!isStatusError(error, 'Conflict')) throw error;
        }
      }
    } catch (error) {
      log.warn(`the lease was not given up: ${errorMessage(error)}`);
    } finally {
      deadline.dispose();
      this.#observed = undefined;
    }
  }

  /** metav1.MicroTime. */
  #nowText(): string {
    return new Date(this.#options.world.clock.now()).toISOString().replace('Z', '000Z');
  }
}
