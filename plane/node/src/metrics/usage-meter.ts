import type { World } from '@castellan/world';
import type { Usage } from './process-usage.js';

/** What is measured: by a name that no other thing ever has. */
export interface Subject {
  readonly id: string;
  /** When it began, in milliseconds since 1970; of what was always there, absent. */
  readonly startedAtMs?: number;
  read(): Usage;
}

/** How much is used now. */
export interface Rate {
  /** Processors' worth, over the window. */
  readonly cores: number;
  readonly memoryBytes: number;
  readonly atMs: number;
  readonly windowMs: number;
}

interface Sample {
  /** On the clock that never goes back. */
  readonly takenMs: number;
  readonly usages: ReadonlyMap<string, Usage>;
}

interface Measured {
  readonly sample: Sample;
  readonly rates: ReadonlyMap<string, Rate>;
}

/** A sample that is older is of another time. */
const oldestMs = 60_000;
/** Who asks more often gets what was found last. */
const freshMs = 5_000;
/** Between the two looks of somebody who asks for the first time. */
const firstWindowMs = 500;

/**
 * Measures when somebody asks, and never else: the use of processors is that since the last time somebody asked, or within half a
 * second when that is more than a minute ago.
 */
export class UsageMeter {
  readonly #world: World;
  readonly #subjects: () => readonly Subject[];
  #last: Measured | undefined;
  #running: Promise<ReadonlyMap<string, Rate>> | undefined;

  constructor(world: World, subjects: () => readonly Subject[]) {
    this.#world = world;
    this.#subjects = subjects;
  }

  /** By the subjects' ids. Those who ask at the same time get the same. */
  async measure(): Promise<ReadonlyMap<string, Rate>> {
    if (this.#last !== undefined && this.#ageMs(this.#last.sample) < freshMs) return this.#withNew(this.#last);
    this.#running ??= this.#measure().finally(() => {
      this.#running = undefined;
    });
    return await this.#running;
  }

  /** What was found last, and of what has begun since what it has used since then. */
  #withNew({ sample, rates }: Measured): ReadonlyMap<string, Rate> {
    const begun = this.#subjects().filter(({ id }) => !rates.has(id));
    if (begun.length === 0) return rates;
    const now = this.#take(begun);
    return new Map([...rates, ...begun.flatMap((subject) => this.#rate(subject, sample, now))]);
  }

  async #measure(): Promise<ReadonlyMap<string, Rate>> {
    let before = this.#last?.sample;
    if (before === undefined || this.#ageMs(before) > oldestMs) {
      before = this.#take(this.#subjects());
      await this.#world.clock.sleep(firstWindowMs);
    }
    const subjects = this.#subjects();
    const sample = this.#take(subjects);
    const from = before;
    const rates = new Map(subjects.flatMap((subject) => this.#rate(subject, from, sample)));
    this.#last = { sample, rates };
    return rates;
  }

  #take(subjects: readonly Subject[]): Sample {
    const usages = new Map(subjects.map((subject) => [subject.id, subject.read()]));
    return { takenMs: this.#world.clock.monotonicNow(), usages };
  }

  #ageMs({ takenMs }: Sample): number {
    return this.#world.clock.monotonicNow() - takenMs;
  }

  /** What began after the first look has used nothing before it began. */
  #rate({ id, startedAtMs }: Subject, before: Sample, now: Sample): readonly (readonly [string, Rate])[] {
    const usage = now.usages.get(id);
    if (usage === undefined) return [];
    const atMs = this.#world.clock.now();
    const known = before.usages.get(id);
    const sinceStartMs = startedAtMs === undefined ? undefined : atMs - startedAtMs;
    const windowMs = known === undefined ? sinceStartMs : now.takenMs - before.takenMs;
    if (windowMs === undefined || windowMs <= 0) return [];
    const cores = Math.max(0, usage.cpuSeconds - (known?.cpuSeconds ?? 0)) / (windowMs / 1_000);
    return [[id, { cores, memoryBytes: usage.memoryBytes, atMs, windowMs }]];
  }
}
