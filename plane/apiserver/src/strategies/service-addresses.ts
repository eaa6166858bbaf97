import type { Keyspace } from '@castellan/keyspace';
import type { World } from '@castellan/world';
import { at, record, text } from '../json.js';
import { timestampOf } from '../registry/strategy.js';
import { type IsHeld, type Reservation, Reservations } from './reservations.js';

const randomTries = 32;

/** The addresses of services out of one IPv4 range. Each address in use is an IPAddress object. */
export class ServiceAddresses {
  readonly cidr: string;
  readonly #world: World;
  readonly #held: Reservations;
  readonly #base: number;
  readonly #size: number;

  constructor(options: { readonly keyspace: Keyspace; readonly world: World; readonly cidr: string }) {
    const [address = '', bits = ''] = options.cidr.split('/');
    const { world } = options;
    this.cidr = options.cidr;
    this.#world = world;
    this.#size = 2 ** (32 - Number(bits));
    this.#base = Math.floor(numberOf(address) / this.#size) * this.#size;
    const encode = (name: string, reservation: Reservation) =>
      Buffer.from(JSON.stringify(ipAddressObject(name, reservation, world)));
    this.#held = new Reservations({ ...options, prefix: '/registry/ipaddresses/', encode, decode: reservationOf });
  }

  /** The first address: that of service default/kubernetes. */
  get first(): string {
    return addressOf(this.#base + 1);
  }

  /** Why `address` cannot be held for `owner` (`namespace/name`); undefined when it now is. */
  async hold(address: string, owner: string, isDryRun = false): Promise<string | undefined> {
    const offset = numberOf(address) - this.#base;
    if (offset < 0 || offset >= this.#size) return 'the provided network does not match the current range';
    if (offset === 0 || offset === this.#size - 1) {
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${this.cidr}`;
    }
    if (isDryRun || (await this.#held.hold(address, owner))) return undefined;
    return 'provided IP is already allocated';
  }

  /** Holds a free address; undefined when there is none. `isHeld` names the services that are there now. */
  async holdAny(owner: string, isHeld: IsHeld): Promise<string | undefined> {
    for (let tries = 0; tries < randomTries; tries += 1) {
      const address = addressOf(this.#base + 2 + Math.floor(this.#world.random.next() * (this.#size - 3)));
      if (await this.#held.hold(address, owner)) return address;
    }
    await this.#held.reclaim(isHeld);
    for (let offset = 2; offset < this.#size - 1; offset += 1) {
      const address = addressOf(this.#base + offset);
      if (await this.#held.hold(address, owner)) return address;
    }
    return undefined;
  }

  release(address: string, owner: string): Promise<void> {
    return this.#held.release(address, owner);
  }

  /** Frees what no service has, and holds what `services` have: owner → address. */
  async repair(isHeld: IsHeld, services: ReadonlyMap<string, string>): Promise<void> {
    await this.#held.reclaim(isHeld);
    for (const [owner, address] of services) await this.hold(address, owner);
  }
}

/** Source: the objects that kube-apiserver's allocator writes (KEP-1880). */
function ipAddressObject(name: string, { owner, heldAtMs }: Reservation, world: World) {
  const [namespace, service] = owner.split('/');
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'IPAddress',
    metadata: {
      name,
      uid: world.random.uuid(),
      creationTimestamp: timestampOf(heldAtMs),
      labels: {
        'ipaddress.kubernetes.io/ip-family': 'IPv4',
        'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
      },
    },
    spec: { parentRef: { resource: 'services', namespace, name: service } },
  };
}

/** An address that a user wrote, for anything but a service, has no owner here. */
function reservationOf(value: Uint8Array): Reservation {
  const object = record(JSON.parse(Buffer.from(value).toString('utf8')));
  const { resource, namespace, name } = record(at(object, 'spec', 'parentRef'));
  const since = Date.parse(text(at(object, 'metadata', 'creationTimestamp')) ?? '');
  const isService = resource === 'services' && typeof namespace === 'string' && typeof name === 'string';
  return { owner: isService ? `${namespace}/${name}` : '', heldAtMs: Number.isNaN(since) ? 0 : since };
}

function numberOf(address: string): number {
  return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
