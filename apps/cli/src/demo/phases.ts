import { type World, waitFor } from '@castellan/world';
import type { Reporter } from '../output/reporter.js';

export interface TimedPhase {
  readonly name: string;
  readonly ms: number;
}

/** Runs the parts of a story one after the other, each with a deadline, and remembers how long each took. */
export class Phases {
  readonly #world: World;
  readonly #reporter: Reporter;
  readonly #done: TimedPhase[] = [];

  constructor({ world, reporter }: { readonly world: World; readonly reporter: Reporter }) {
    this.#world = world;
    this.#reporter = reporter;
  }

  get done(): readonly TimedPhase[] {
    return this.#done;
  }

  async run<T>(name: string, deadlineMs: number, work: () => Promise<T>): Promise<T> {
    const startedMs = this.#world.clock.monotonicNow();
    const working = work().then((value) => ({ value }));
    const { value } = await waitFor(this.#world, () => working, { what: name, deadlineMs });
    const ms = this.#world.clock.monotonicNow() - startedMs;
    this.#done.push({ name, ms });
    this.#reporter.phase(name, ms);
    return value;
  }
}
