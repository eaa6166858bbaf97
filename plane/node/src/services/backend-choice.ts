import type { Clock } from '@castellan/world';
import type { Frontend } from './frontend.js';
import type { Backend } from './service-backends.js';

interface Bond {
  readonly backend: string;
  readonly untilMs: number;
}

/** Clients whose backend is remembered, per frontend; beyond it those are forgotten that came longest ago. */
const bondLimit = 10_000;

type Choosable = Pick<Frontend, 'backends' | 'affinityMs' | 'staysOnNode'>;

/** Which backend a client's next connection goes to: in turn, or for a while the one that it had before. */
export class BackendChoice {
  readonly #clock: Clock;
  readonly #nodeOf: (client: string) => string | undefined;
  readonly #bonds = new Map<string, Bond>();
  #frontend: Choosable = { backends: [], affinityMs: undefined, staysOnNode: false };
  #turn = 0;

  /** `nodeOf`: which node a client's pod is on; `undefined` for the machine's own programs. */
  constructor(clock: Clock, nodeOf: (client: string) => string | undefined) {
    this.#clock = clock;
    this.#nodeOf = nodeOf;
  }

  replace(frontend: Choosable): void {
    this.#frontend = frontend;
    if (frontend.affinityMs === undefined) this.#bonds.clear();
  }

  /** All that may be tried, the best first. */
  order(client: string): readonly Backend[] {
    const backends = this.#backendsFor(client);
    const bond = this.#bonds.get(client);
    const isBound = bond !== undefined && bond.untilMs > this.#clock.monotonicNow();
    const bound = isBound ? backends.find((backend) => backendKey(backend) === bond.backend) : undefined;
    if (bound !== undefined) return [bound, ...backends.filter((backend) => backend !== bound)];
    this.#turn = (this.#turn + 1) % Math.max(1, backends.length);
    return [...backends.slice(this.#turn), ...backends.slice(0, this.#turn)];
  }

  /** The client has got there. */
  chosen(client: string, backend: Backend): void {
    const { affinityMs } = this.#frontend;
    if (affinityMs === undefined) return;
    this.#bonds.delete(client);
    const oldest = this.#bonds.size < bondLimit ? undefined : this.#bonds.keys().next().value;
    if (oldest !== undefined) this.#bonds.delete(oldest);
    const untilMs = this.#clock.monotonicNow() + affinityMs;
    this.#bonds.set(client, { backend: backendKey(backend), untilMs });
  }

  has(backend: Backend): boolean {
    return this.#frontend.backends.some((other) => backendKey(other) === backendKey(backend));
  }

  #backendsFor(client: string): readonly Backend[] {
    const { backends, staysOnNode } = this.#frontend;
    const node = staysOnNode ? this.#nodeOf(client) : undefined;
    return node === undefined ? backends : backends.filter((backend) => backend.node === node);
  }
}

function backendKey({ address, port }: Backend): string {
  return `${address}:${port}`;
}
