import type { Log } from '@castellan/runtime';
import type { Clock } from '@castellan/world';
import { BackendChoice } from './backend-choice.js';
import { type Frontend, frontendKey } from './frontend.js';
import { TcpProxy } from './tcp-proxy.js';
import { UdpProxy } from './udp-proxy.js';

interface Listener {
  readonly owner: string;
  readonly choice: BackendChoice;
  readonly proxy: TcpProxy | UdpProxy;
}

/** A frontend that is not listened on, and why. */
export interface ListenProblem {
  readonly frontend: Frontend;
  readonly message: string;
}

/** Per frontend; beyond it the kernel's queue makes clients wait. */
const connectionLimit = 1_024;

/** Frontends that this process listens on itself, and forwards from: the user-space proxy. TCP and UDP. */
export class ServiceListeners {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #nodeOf: (client: string) => string | undefined;
  readonly #listeners = new Map<string, Listener>();
  /** Took no more connections, and have some that stand. */
  readonly #draining = new Map<TcpProxy | UdpProxy, Promise<void>>();
  /** Frontends that could not be opened, with why: said once. */
  readonly #problems = new Map<string, { readonly owner: string; readonly message: string }>();

  #turn: Promise<unknown> = Promise.resolve();

  /** `nodeOf`: which node a client's pod is on; `undefined` for the machine's own programs. */
  constructor(log: Log, clock: Clock, nodeOf: (client: string) => string | undefined) {
    this.#log = log;
    this.#clock = clock;
    this.#nodeOf = nodeOf;
  }

  /**
   * Opens, changes and closes what is needed for exactly these frontends of an owner. One that another owner has, or another
   * program of the machine, is tried again at the next call; the result tells which, once for each reason.
   */
  apply(owner: string, frontends: readonly Frontend[]): Promise<readonly ListenProblem[]> {
    // One after the other: two that open the same frontend at once would be in each other's way.
    const done = this.#turn.then(() => this.#apply(owner, frontends));
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #apply(owner: string, frontends: readonly Frontend[]): Promise<readonly ListenProblem[]> {
    // The first has it, where several are on one address.
    const wanted = new Map([...frontends].reverse().map((frontend) => [frontendKey(frontend), frontend]));
    const problems: ListenProblem[] = [];
    for (const [key, listener] of this.#listeners) {
      if (listener.owner === owner && !wanted.has(key)) this.#close(key, listener);
    }
    for (const [key, problem] of this.#problems) {
      if (problem.owner === owner && !wanted.has(key)) this.#problems.delete(key);
    }
    for (const [key, frontend] of wanted) {
      const known = this.#listeners.get(key);
      if (known === undefined) problems.push(...(await this.#open(owner, frontend)));
      else if (known.owner === owner) {
        known.choice.replace(frontend);
        this.#problems.delete(key);
      }
    }
    return problems;
  }

  /** Whether an owner lacks a frontend that another program has: nobody tells when it lets go of it. */
  isWaiting(owner: string): boolean {
    return [...this.#problems.values()].some((problem) => problem.owner === owner);
  }

  has(frontend: Pick<Frontend, 'protocol' | 'address' | 'port'>): boolean {
    return this.#listeners.has(frontendKey(frontend));
  }

  /** Ends everything, connections too. */
  async close(): Promise<void> {
    for (const [key, listener] of this.#listeners) this.#close(key, listener);
    const drained = [...this.#draining.values()];
    for (const proxy of this.#draining.keys()) proxy.disconnect();
    await Promise.all(drained);
  }

  async #open(owner: string, frontend: Frontend): Promise<readonly ListenProblem[]> {
    const key = frontendKey(frontend);
    const choice = new BackendChoice(this.#clock, this.#nodeOf);
    choice.replace(frontend);
    try {
      const proxy = await this.#listen(frontend, choice);
      if (proxy === undefined) return [];
      this.#listeners.set(key, { owner, choice, proxy });
      this.#problems.delete(key);
      return [];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.#problems.get(key)?.message === message) return [];
      this.#problems.set(key, { owner, message });
      this.#log.warn('a service address cannot be listened on', { frontend: key, error: message });
      return [{ frontend, message }];
    }
  }

  async #listen(frontend: Frontend, choice: BackendChoice): Promise<TcpProxy | UdpProxy | undefined> {
    const { address, port, protocol } = frontend;
    if (protocol === 'TCP') return await TcpProxy.listen({ address, port, connectionLimit }, choice);
    if (protocol === 'UDP') return await UdpProxy.listen({ address, port, clock: this.#clock }, choice);
    return undefined;
  }

  #close(key: string, { proxy }: Listener): void {
    this.#listeners.delete(key);
    const drained = proxy.close().finally(() => this.#draining.delete(proxy));
    this.#draining.set(proxy, drained);
  }
}
