import type { Keyspace, LeaseId } from '@castellan/keyspace';
import type { World } from '@castellan/world';

/** One lease serves all objects written within this time, up to a number of them, as in kube-apiserver. */
const shareMs = 60_000;
const maxObjects = 1000;

/** Leases for objects that vanish by themselves. */
export class EventLeases {
  private readonly keyspace: Keyspace;
  private readonly world: World;
  private readonly current = new Map<
    number,
    { readonly id: Promise<LeaseId>; readonly untilMs: number; objects: number }
  >();

  constructor(keyspace: Keyspace, world: World) {
    this.keyspace = keyspace;
    this.world = world;
  }

  /** A lease under which an object lives at least `ttlSeconds`, at most a minute longer. */
  lease(ttlSeconds: number): Promise<LeaseId> {
    const now = this.world.clock.monotonicNow();
    const shared = this.current.get(ttlSeconds);
    if (shared !== undefined && now < shared.untilMs && shared.objects < maxObjects) {
      shared.objects += 1;
      return shared.id;
    }
    const id = this.keyspace.grantLease(ttlSeconds + shareMs / 1000);
    this.current.set(ttlSeconds, { id, untilMs: now + shareMs, objects: 1 });
    // A lease that could not be had is not shared.
    id.catch(() => this.current.delete(ttlSeconds));
    return id;
  }
}
