import { type Frontend, frontendKey } from './frontend.js';

interface Known {
  readonly zone: number;
  readonly backends: ReadonlySet<string>;
}

/** Zones have 16 bits, and 0 is that of all other traffic. */
const zoneCount = 65_535;

/**
 * The zone of each UDP frontend: another one as soon as a backend has left, so that no flow goes on to it for as long as its client
 * keeps sending. Numbers begin with the time, as an earlier agent's flows may still be known to the kernel.
 */
export class DatagramZones {
  #last: number;
  #known: ReadonlyMap<string, Known> = new Map();

  constructor(nowMs: number) {
    this.#last = Math.floor(nowMs / 1_000);
  }

  /** Of all frontends that there are, by their keys. */
  next(frontends: readonly Frontend[]): ReadonlyMap<string, number> {
    const next = new Map<string, Known>();
    for (const frontend of frontends) {
      if (frontend.protocol !== 'UDP') continue;
      const key = frontendKey(frontend);
      const backends = new Set(frontend.backends.map(({ address, port }) => `${address}:${port}`));
      const before = this.#known.get(key);
      const isKept = before !== undefined && [...before.backends].every((backend) => backends.has(backend));
      next.set(key, { zone: isKept ? before.zone : this.#newZone(), backends });
    }
    this.#known = next;
    return new Map([...next].map(([key, { zone }]) => [key, zone]));
  }

  #newZone(): number {
    this.#last += 1;
    return 1 + (this.#last % zoneCount);
  }
}
