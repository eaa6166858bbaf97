import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import { count, record, text } from '../json.js';
import { rangeOfPrefix } from '../storage/keys.js';

const prefix = '/registry/ipaddresses/';
const randomTries = 32;
/** An address is held before its service is written; so long an owner may be missing. */
const abandonedMs = 60_000;

/**
 * The addresses of services out of one IPv4 range. Each address in use is a key of its own, written only where it is
 * absent: so no two services ever get the same one, whoever asks and however often the server restarts.
 */
export class ServiceAddresses {
  readonly cidr: string;
  private readonly keyspace: Keyspace;
  private readonly world: World;
  private readonly base: number;
  private readonly size: number;

  constructor(options: { readonly keyspace: Keyspace; readonly world: World; readonly cidr: string }) {
    const [address = '', bits = ''] = options.cidr.split('/');
    this.cidr = options.cidr;
    this.keyspace = options.keyspace;
    this.world = options.world;
    this.size = 2 ** (32 - Number(bits));
    this.base = Math.floor(numberOf(address) / this.size) * this.size;
  }

  /** The first address: that of service default/kubernetes. */
  get first(): string {
    return addressOf(this.base + 1);
  }

  contains(address: string): boolean {
    const offset = numberOf(address) - this.base;
    return offset > 0 && offset < this.size - 1;
  }

  /** Holds `address` for `owner` (`namespace/name`); false when another service has it. */
  async hold(address: string, owner: string): Promise<boolean> {
    const value = Buffer.from(JSON.stringify({ owner, heldAtMs: this.world.clock.now() }));
    const result = await this.keyspace.put(prefix + address, value, { ifRevision: 0 });
    if (result.isWritten) return true;
    return result.present !== undefined && ownerOf(result.present.value).owner === owner;
  }

  /** Holds a free address; undefined when there is none. `isHeld` names the services that are there now. */
  async holdAny(
    owner: string,
    isHeld: (owner: string, address: string) => Promise<boolean>,
  ): Promise<string | undefined> {
    for (let tries = 0; tries < randomTries; tries += 1) {
      const address = addressOf(this.base + 2 + Math.floor(this.world.random.next() * (this.size - 3)));
      if (await this.hold(address, owner)) return address;
    }
    await this.reclaim(isHeld);
    for (let offset = 2; offset < this.size - 1; offset += 1) {
      const address = addressOf(this.base + offset);
      if (await this.hold(address, owner)) return address;
    }
    return undefined;
  }

  async release(address: string, owner: string): Promise<void> {
    const { keyValue } = await this.keyspace.get(prefix + address);
    if (keyValue === undefined || ownerOf(keyValue.value).owner !== owner) return;
    await this.keyspace.delete(prefix + address, { ifRevision: keyValue.modRevision });
  }

  /** Frees what was held for services that were never written: a server that was killed in between left them. */
  private async reclaim(isHeld: (owner: string, address: string) => Promise<boolean>): Promise<void> {
    const { keyValues } = await this.keyspace.range(rangeOfPrefix(prefix));
    for (const { key, value, modRevision } of keyValues) {
      const { owner, heldAtMs } = ownerOf(value);
      if (this.world.clock.now() - heldAtMs < abandonedMs) continue;
      if (await isHeld(owner, key.slice(prefix.length))) continue;
      await this.keyspace.delete(key, { ifRevision: modRevision });
    }
  }
}

function ownerOf(value: Uint8Array): { readonly owner: string; readonly heldAtMs: number } {
  const { owner, heldAtMs } = record(JSON.parse(Buffer.from(value).toString('utf8')));
  return { owner: text(owner) ?? '', heldAtMs: count(heldAtMs) ?? 0 };
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
