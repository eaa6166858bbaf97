import type { Clock } from '@castellan/world';
import type { Backend } from './service-backends.js';

interface Bond {
  readonly backend: string;
  readonly untilMs: number;
}

/** Clients whose backend is remembered, per frontend; beyond it those are forgotten that came longest ago. */
const bondLimit = 10_000;

/** Which backend a client's next connection goes to: in turn, or for a while the one that it had before. */
export class BackendChoice {
  readonly #clock: Clock;
  readonly #bonds = new Map<string, Bond>();
  #backends: readonly Backend[] = [];
  #affinityMs: number | undefined;
  #turn = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  replace(backends: readonly Backend[], affinityMs: number | undefined): void {
    this.#backends = backends;
    this.#affinityMs = affinityMs;
    if (affinityMs === undefined) this.#bonds.clear();
  }

  /** All that may be tried, the best first. */
  order(client: string): readonly Backend[] {
    const all = this.#backends;
    this.#turn = all.length === 0 ? 0 : (this.#turn + 1) % all.length;
    const inTurn = [...all.slice(this.#turn), ...all.slice(0, this.#turn)];
    const bond = this.#bonds.get(client);
    if (bond === undefined || bond.untilMs <= this.#clock.monotonicNow()) return inTurn;
    const bound = inTurn.find((backend) => backendKey(backend) === bond.backend);
    return bound === undefined ? inTurn : [bound, ...inTurn.filter((backend) => backend !== bound)];
  }

  /** The client has got there. */
  chosen(client: string, backend: Backend): void {
    if (this.#affinityMs === undefined) return;
    this.#bonds.delete(client);
    const oldest = this.#bonds.size < bondLimit ? undefined : this.#bonds.keys().next().value;
    if (oldest !== undefined) this.#bonds.delete(oldest);
    const untilMs = this.#clock.monotonicNow() + this.#affinityMs;
    this.#bonds.set(client, { backend: backendKey(backend), untilMs });
  }

  has(backend: Backend): boolean {
    return this.#backends.some((other) => backendKey(other) === backendKey(backend));
  }
}

function backendKey({ address, port }: Backend): string {
  return `${address}:${port}`;
}
