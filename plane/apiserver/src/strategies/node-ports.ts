import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import { count, record, text } from '../json.js';
import { type IsHeld, type Reservation, Reservations } from './reservations.js';

const firstPort = 30_000;
const lastPort = 32_767;
/** Ports below this one are left to those who ask for one by number, while others are free (KEP-3070). */
const firstRandomPort = firstPort + 86;
const randomTries = 32;

/** The ports of nodes at which services answer. */
export class NodePorts {
  readonly #world: World;
  readonly #held: Reservations;

  constructor({ keyspace, world }: { readonly keyspace: Keyspace; readonly world: World }) {
    const prefix = '/registry/ranges/servicenodeports/';
    const encode = (_: string, reservation: Reservation) => Buffer.from(JSON.stringify(reservation));
    this.#world = world;
    this.#held = new Reservations({ keyspace, world, prefix, encode, decode: reservationOf });
  }

  /** Why `port` cannot be held for `owner` (`namespace/name`); undefined when it now is. */
  async hold(port: number, owner: string, isDryRun = false): Promise<string | undefined> {
    if (port < firstPort || port > lastPort) {
      return `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`;
    }
    if (isDryRun || (await this.#held.hold(String(port), owner))) return undefined;
    return 'provided port is already allocated';
  }

  /** Holds a free port; undefined when there is none. */
  async holdAny(owner: string, isHeld: IsHeld): Promise<number | undefined> {
    for (let tries = 0; tries < randomTries; tries += 1) {
      const port = this.random();
      if (await this.#held.hold(String(port), owner)) return port;
    }
    await this.#held.reclaim(isHeld);
    for (let port = lastPort; port >= firstPort; port -= 1) {
      if (await this.#held.hold(String(port), owner)) return port;
    }
    return undefined;
  }

  /** A port that may be taken: what a dry run shows. */
  random(): number {
    return firstRandomPort + Math.floor(this.#world.random.next() * (lastPort - firstRandomPort + 1));
  }

  release(port: number, owner: string): Promise<void> {
    return this.#held.release(String(port), owner);
  }

  /** Frees what no service has, and holds what `services` have: owner and port. */
  async repair(isHeld: IsHeld, services: readonly (readonly [owner: string, port: number])[]): Promise<void> {
    await this.#held.reclaim(isHeld);
    for (const [owner, port] of services) await this.#held.hold(String(port), owner);
  }
}

function reservationOf(value: Uint8Array): Reservation {
  const { owner, heldAtMs } = record(JSON.parse(Buffer.from(value).toString('utf8')));
  return { owner: text(owner) ?? '', heldAtMs: count(heldAtMs) ?? 0 };
}
