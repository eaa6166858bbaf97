import type { EventFate, Faults } from './faults.js';
import type { History } from './history.js';
import type { ProcessLife } from './process-life.js';

export interface WatchedStreamOptions {
  readonly process: ProcessLife;
  readonly faults: Faults;
  readonly history: History;
  readonly path: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly latency: () => number;
  readonly ended: () => void;
}

interface Arrival {
  readonly chunk: Uint8Array;
  /** When it will have come over the network. */
  readonly dueMs: number;
}

/** An event that is kept back for the next one comes after this at the latest. */
const longestWaitMs = 10_000;

/** One watch on its way to a process: its events come in order, each after its latency, and meet the faults placed. */
export class WatchedStream {
  readonly #options: WatchedStreamOptions;
  readonly #arrivals: Arrival[] = [];
  #end: { readonly error?: unknown } | undefined;
  #cut: Error | undefined;
  #wake: () => void = () => {};

  constructor(options: WatchedStreamOptions) {
    this.#options = options;
  }

  cut(): void {
    this.#cut ??= new Error('the connection was reset');
    this.#wake();
  }

  async *read(): AsyncGenerator<Uint8Array, void, undefined> {
    const { process, ended } = this.#options;
    const source = this.#options.body[Symbol.asyncIterator]();
    void this.#receive(source);
    try {
      for (;;) {
        await process.alive();
        if (this.#cut !== undefined) throw this.#cut;
        const arrival = this.#arrivals[0];
        if (arrival !== undefined) {
          await process.network.sleep(Math.max(0, arrival.dueMs - process.network.monotonicNow()));
          await this.#meetFate(arrival.chunk);
          await process.alive();
          if (this.#cut !== undefined) throw this.#cut;
          this.#arrivals.shift();
          this.#note(arrival.chunk);
          yield arrival.chunk;
        } else if (this.#end !== undefined) break;
        else await this.#more();
      }
      if ('error' in this.#end) throw this.#end.error;
    } finally {
      ended();
      // The source may be waiting for what never comes.
      void source.return?.(undefined);
    }
  }

  async #receive(source: AsyncIterator<Uint8Array>): Promise<void> {
    const { process, latency } = this.#options;
    try {
      for (let next = await source.next(); next.done !== true; next = await source.next()) {
        this.#arrivals.push({ chunk: next.value, dueMs: process.network.monotonicNow() + latency() });
        this.#wake();
      }
      this.#end = {};
    } catch (error) {
      this.#end = { error };
    }
    this.#wake();
  }

  async #meetFate(chunk: Uint8Array): Promise<void> {
    const { process, faults, history, path } = this.#options;
    if (process.isPartitioned) {
      await process.connected();
      return this.cut();
    }
    if (typeOf(chunk) === 'BOOKMARK') return;
    process.noteEvent(path);
    const fate = faults.fateOfEvent(process.party, path);
    if (fate === undefined) return;
    history.note(process.life, 'fault', `${typeOf(chunk)} of ${path} ${JSON.stringify(fate)}`);
    await this.#suffer(fate);
  }

  async #suffer(fate: EventFate): Promise<void> {
    const { process, faults, path } = this.#options;
    switch (fate.kind) {
      case 'cut':
        return this.cut();
      case 'missed': {
        const again = new RegExp(`^${path.replace(/\?.*$/, '').replaceAll('.', '\\.')}\\?.*watch=true`);
        const meant = { process: process.party, on: 'watch', path: again } as const;
        const end = faults.request({ ...meant, times: 1_000, fate: { kind: 'lost', isCarriedOut: false } });
        process.network.after(fate.forMs, () => {
          end();
          faults.request({ ...meant, fate: { kind: 'answer', code: 410 } });
        });
        return this.cut();
      }
      case 'late':
        if (fate.by === 'many') return await process.network.sleep(fate.forMs);
        if (this.#arrivals.length > 1) return;
        return await this.#nextArrival();
    }
  }

  async #nextArrival(): Promise<void> {
    let isOver = false;
    const cancel = this.#options.process.network.after(longestWaitMs, () => {
      isOver = true;
      this.#wake();
    });
    while (!isOver && this.#arrivals.length === 1 && this.#end === undefined && this.#cut === undefined) {
      await this.#more();
    }
    cancel();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #note(chunk: Uint8Array): void {
    const { process, history, path } = this.#options;
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
    const [, revision = ''] = /"resourceVersion":"(\d+)"/.exec(text) ?? [];
    history.note(process.life, 'event', `${typeOf(chunk)} ${revision} ${path.replace(/\?.*$/, '')}`);
  }
}

function typeOf(chunk: Uint8Array): string {
  return /^\{"type":"([A-Z]+)"/.exec(Buffer.from(chunk.subarray(0, 32)).toString('latin1'))?.[1] ?? '';
}
