import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import { rangeOfPrefix } from '../storage/keys.js';

/** A thing is held before its service is written; so long an owner may be missing. */
const abandonedMs = 60_000;

export interface Reservation {
  /** `namespace/name` */
  readonly owner: string;
  readonly heldAtMs: number;
}

/** Whether the service `owner` is there and has `name`. */
export type IsHeld = (owner: string, name: string) => Promise<boolean>;

/**
 * Things of which each may have one owner. Each that is held is a key of its own, written only where it is absent: so
 * no two owners ever get the same one, whoever asks and however often the server restarts.
 */
export class Reservations {
  readonly #keyspace: Keyspace;
  readonly #world: World;
  readonly #prefix: string;
  readonly #encode: (name: string, reservation: Reservation) => Uint8Array;
  readonly #decode: (value: Uint8Array) => Reservation;

  constructor(options: {
    readonly keyspace: Keyspace;
    readonly world: World;
    /** Of the keys; the name follows. */
    readonly prefix: string;
    encode(name: string, reservation: Reservation): Uint8Array;
    decode(value: Uint8Array): Reservation;
  }) {
    this.#keyspace = options.keyspace;
    this.#world = options.world;
    this.#prefix = options.prefix;
    this.#encode = options.encode;
    this.#decode = options.decode;
  }

  /** False when it is held already, be it by the same owner. */
  async hold(name: string, owner: string): Promise<boolean> {
    const value = this.#encode(name, { owner, heldAtMs: this.#world.clock.now() });
    return (await this.#keyspace.put(this.#prefix + name, value, { ifRevision: 0 })).isWritten;
  }

  async release(name: string, owner: string): Promise<void> {
    const { keyValue } = await this.#keyspace.get(this.#prefix + name);
    if (keyValue === undefined || this.#decode(keyValue.value).owner !== owner) return;
    await this.#keyspace.delete(this.#prefix + name, { ifRevision: keyValue.modRevision });
  }

  /** Frees what was held for services that were never written: a server that was killed in between left them. */
  async reclaim(isHeld: IsHeld): Promise<void> {
    const { keyValues } = await this.#keyspace.range(rangeOfPrefix(this.#prefix));
    for (const { key, value, modRevision } of keyValues) {
      const { owner, heldAtMs } = this.#decode(value);
      if (owner === '' || this.#world.clock.now() - heldAtMs < abandonedMs) continue;
      if (await isHeld(owner, key.slice(this.#prefix.length))) continue;
      await this.#keyspace.delete(key, { ifRevision: modRevision });
    }
  }
}
