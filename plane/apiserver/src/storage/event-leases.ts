import type { Keyspace, LeaseId } from '@castellan/keyspace';
import type { World } from '@castellan/world';

/** Of kube-apiserver's lease_manager.go: so long, and for so many objects, one lease serves those that are written. */
const maxShareSeconds = 60;
const maxShareOfTtl = 0.05;
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

  /** A lease under which an object lives at least `ttlSeconds`, at most a twentieth of that, or a minute, longer. */
  lease(ttlSeconds: number): Promise<LeaseId> {
    const now = this.world.clock.monotonicNow();
    const shared = this.current.get(ttlSeconds);
    if (shared !== undefined && now < shared.untilMs && shared.objects < maxObjects) {
      shared.objects += 1;
      return shared.id;
    }
    const shareSeconds = Math.ceil(Math.min(maxShareSeconds, ttlSeconds * maxShareOfTtl));
    const id = this.keyspace.grantLease(ttlSeconds + shareSeconds);
    this.current.set(ttlSeconds, { id, untilMs: now + shareSeconds * 1000, objects: 1 });
    // A lease that could not be had is not shared.
    id.catch(() => this.current.delete(ttlSeconds));
    return id;
  }
}
