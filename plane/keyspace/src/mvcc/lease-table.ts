import type { Cancel, World } from '@castellan/world';
import type { KeyEvent, LeaseId } from '../keyspace.js';

/** Longer timers overflow in Node.js and fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface Lease {
  readonly ttlSeconds: number;
  readonly keys: Set<string>;
  expiresAtMs: number;
}

/**
 * The leases, the keys on each, and one timer per lease. Expiry is only reported (`onExpired`): the deletion is a
 * write like any other. Timers run from `start` on, with the full TTL: how long the process was down is not known.
 */
export class LeaseTable {
  readonly #world: World;
  #onExpired: ((lease: LeaseId) => void) | undefined;
  readonly #leases = new Map<LeaseId, Lease>();
  readonly #timers = new Map<LeaseId, Cancel>();
  #lastLease = 0;

  constructor(world: World) {
    this.#world = world;
  }

  start(onExpired: (lease: LeaseId) => void): void {
    this.#onExpired = onExpired;
    for (const lease of this.#leases.keys()) this.renew(lease);
  }

  /** The number in the name of the lease granted last; names are never used twice. */
  get lastLease(): number {
    return this.#lastLease;
  }

  /** Numbers up to this one are taken, if only by leases that have ended. */
  restore(lastLease: number): void {
    this.#lastLease = lastLease;
  }

  has(lease: LeaseId): boolean {
    return this.#leases.has(lease);
  }

  /** Every lease and its TTL in seconds. */
  *granted(): Iterable<{ readonly lease: LeaseId; readonly ttlSeconds: number }> {
    for (const [lease, { ttlSeconds }] of this.#leases) yield { lease, ttlSeconds };
  }

  keysOf(lease: LeaseId): Iterable<string> {
    return this.#leases.get(lease)?.keys ?? [];
  }

  grant(lease: LeaseId, ttlSeconds: number): void {
    this.#lastLease = Math.max(this.#lastLease, Number(lease));
    this.#leases.set(lease, { ttlSeconds, keys: new Set(), expiresAtMs: 0 });
    this.renew(lease);
  }

  /** Starts the TTL anew. */
  renew(id: LeaseId): void {
    const lease = this.#leases.get(id);
    if (lease === undefined || this.#onExpired === undefined) return;
    lease.expiresAtMs = this.#world.clock.monotonicNow() + lease.ttlSeconds * 1000;
    this.#arm(id, lease);
  }

  end(lease: LeaseId): void {
    this.#timers.get(lease)?.();
    this.#timers.delete(lease);
    this.#leases.delete(lease);
  }

  /** Moves the changed key from the lease that it had to the one that it has. */
  follow(event: KeyEvent): void {
    const before = event.previous?.lease;
    const after = event.keyValue?.lease;
    if (before === after) return;
    if (before !== undefined) this.#leases.get(before)?.keys.delete(event.key);
    if (after !== undefined) this.#leases.get(after)?.keys.add(event.key);
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#onExpired = undefined;
  }

  #arm(id: LeaseId, lease: Lease): void {
    this.#timers.get(id)?.();
    const leftMs = lease.expiresAtMs - this.#world.clock.monotonicNow();
    const timer = this.#world.clock.after(Math.min(Math.max(0, leftMs), LONGEST_TIMER_MS), () => {
      if (lease.expiresAtMs > this.#world.clock.monotonicNow()) this.#arm(id, lease);
      else this.#onExpired?.(id);
    });
    this.#timers.set(id, timer);
  }
}
