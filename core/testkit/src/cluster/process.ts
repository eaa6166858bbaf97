import { type Client, connect, type Transport } from '@castellan/client';
import { type Clock, ProcessWorld, type World } from '@castellan/world';
import type { Faults } from './faults.js';
import type { History } from './history.js';
import { Joint } from './joint.js';
import type { ProcessLife } from './process-life.js';

export interface ProcessOptions {
  readonly party: string;
  /** 1 for the first, one more after each crash. */
  readonly life: number;
  readonly world: World;
  readonly faults: Faults;
  readonly history: History;
  /** To an API server whose caches are so much behind; 0: to the one that is not. */
  readonly server: (lagMs: number) => Promise<Transport>;
  /** What it does from its start to its end. */
  readonly main: (process: ClusterProcess) => Promise<void>;
  /** After a crash: start another life so much later. */
  readonly died: (restartMs: number) => void;
}

/**
 * One life of a simulated process: it has a clock of its own and a connection of its own, and when it is killed nothing of it
 * goes on: no timer, no reply, no promise.
 */
export class ClusterProcess implements ProcessLife {
  readonly party: string;
  readonly life: string;
  readonly world: ProcessWorld;
  readonly network: Clock;
  readonly client: Client;
  /** What it wrote, as `POST /api/v1/…`, in order. */
  readonly writes: string[] = [];
  /** Paths of the watches that brought it an event, in order. */
  readonly events: string[] = [];
  readonly #options: ProcessOptions;
  readonly #joint: Joint;
  readonly #stopping = new AbortController();
  #lagMs = 0;
  #running: Promise<void> = Promise.resolve();
  #connected: { readonly promise: Promise<void>; readonly heal: () => void } | undefined;

  constructor(options: ProcessOptions) {
    const { party, life, world, faults, history, server } = options;
    this.#options = options;
    this.party = party;
    this.life = `${party}/${life}`;
    this.world = new ProcessWorld(world);
    this.network = world.clock;
    this.#joint = new Joint({ process: this, faults, history, server: () => server(this.#lagMs) });
    this.client = connect(
      { server: 'https://simulated' },
      { world: this.world, transport: this.#joint, userAgent: party },
    );
  }

  start(failed: (error: unknown) => void): void {
    this.#options.history.note(this.life, 'process', 'starts');
    this.#running = this.#options.main(this).catch((error: unknown) => {
      if (!this.#stopping.signal.aborted) failed(error);
    });
  }

  /** Aborts when the process is asked to end. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  get isPartitioned(): boolean {
    return this.#connected !== undefined;
  }

  /** Ends it in good order. */
  async stop(): Promise<void> {
    if (this.world.isDead) return;
    this.#stopping.abort(new Error('the process is stopped'));
    await this.#running;
    this.#options.history.note(this.life, 'process', 'has ended');
  }

  crash(restartMs = 1_000): void {
    if (this.world.isDead) return;
    this.world.kill();
    this.cutWatches();
    this.#options.history.note(this.life, 'process', 'is killed');
    this.#options.died(restartMs);
  }

  async alive(): Promise<void> {
    if (this.world.isDead) await new Promise<never>(() => {});
  }

  async connected(signal?: AbortSignal): Promise<void> {
    await this.alive();
    if (this.#connected === undefined) return;
    await untilAborted(this.#connected.promise, signal);
    await this.alive();
    throw new Error('the connection was reset');
  }

  partition(): () => void {
    if (this.#connected !== undefined) return this.#connected.heal;
    let resolve = (): void => {};
    const promise = new Promise<void>((done) => {
      resolve = done;
    });
    const heal = () => {
      this.#connected = undefined;
      resolve();
    };
    this.#connected = { promise, heal };
    return heal;
  }

  useReplica(lagMs: number): void {
    if (this.#lagMs === lagMs) return;
    this.#lagMs = lagMs;
    this.cutWatches();
  }

  cutWatches(): void {
    this.#joint.cutWatches();
  }

  noteWrite(text: string): void {
    this.writes.push(text);
  }

  noteEvent(path: string): void {
    this.events.push(path);
  }
}

function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    void promise.then(resolve).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
