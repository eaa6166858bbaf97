import { isStatusError } from '@castellan/machinery';
import type { EventFate } from '../cluster/faults.js';
import { type TestCluster, testCluster } from '../cluster/test-cluster.js';
import { CheckReport, type PointResult } from './check-report.js';
import { type CheckName, type CheckPoint, checkNames, type OperatorScenario } from './operator-scenario.js';
import { difference, namesIn, outcomeOf } from './outcome.js';

export interface CheckOptions {
  readonly seed?: number;
  /** Which checks; all when absent. */
  readonly checks?: readonly CheckName[];
  /** One point of a check alone, as the report names it. */
  readonly point?: string;
  /** Of each check at most so many points are tried, spread evenly; all when absent. */
  readonly atMost?: number;
  /** Ends a check with the first point that fails. */
  readonly untilFailure?: boolean;
  /** The command that tries one point again. */
  readonly replay?: (point: CheckPoint) => string;
  readonly onPoint?: (point: CheckPoint, failure: string | undefined) => void;
}

const allButEvents = /^(?!.*\/events)/;
const manyMs = 20_000;
const missedMs = 3_000;
const defaultSettleMs = 5 * 60_000;
/** A process that has nothing to do is watched for so long. */
const quietMs = 3 * 60_000;

interface Counts {
  readonly writes: number;
  readonly events: number;
}

/** A run that begins with the fault placed, asks for what the point says, and fails if it does not end as it should. */
interface Trial {
  readonly point: string;
  run(cluster: TestCluster): Promise<void>;
}

/**
 * Tries an operator at every point of a scenario where a crash, an old read, a missed event or a change of mind could mislead it.
 * Each point is a run of its own on a simulated cluster; each must end as the run without faults did.
 */
export async function checkOperator(scenario: OperatorScenario, options: CheckOptions = {}): Promise<CheckReport> {
  const check = new OperatorCheck(scenario, options);
  return await check.run();
}

class OperatorCheck {
  readonly #scenario: OperatorScenario;
  readonly #options: CheckOptions;
  readonly #report: CheckReport;
  readonly #outcomes = new Map<string, readonly string[]>();
  readonly #specs: readonly string[];
  readonly #path: RegExp;
  readonly #stableNames = new Set<string>();

  constructor(scenario: OperatorScenario, options: CheckOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#report = new CheckReport(scenario.name);
    this.#specs = Object.keys(scenario.specs);
    this.#path = scenario.path ?? allButEvents;
  }

  async run(): Promise<CheckReport> {
    const { checks = checkNames, atMost = Number.POSITIVE_INFINITY, point: wanted } = this.#options;
    await this.#findStableNames();
    for (const spec of this.#specs) await this.#findOutcome(spec);
    const counts = await this.#count();
    for (const check of checks) {
      const trials = this.#trials(check, counts);
      const chosen = wanted === undefined ? spread(trials, atMost) : trials.filter(({ point }) => point === wanted);
      const results: PointResult[] = [];
      for (const trial of chosen) {
        const result = await this.#try(check, trial);
        results.push(result);
        if (result.failure !== undefined && this.#options.untilFailure === true) break;
      }
      this.#report.add(check, trials.length, results);
    }
    return this.#report;
  }

  /** Names that two seeds have in common. */
  async #findStableNames(): Promise<void> {
    for (const spec of this.#specs) {
      const names = (seed: number): Promise<ReadonlySet<string>> =>
        this.#inCluster(seed, async (cluster) => {
          await this.#ask(cluster, spec);
          return namesIn(cluster, this.#scenario);
        });
      const one = await names(this.#seed);
      const other = await names(this.#seed + 1);
      for (const name of one) if (other.has(name)) this.#stableNames.add(name);
    }
  }

  /** What a spec alone leads to. */
  async #findOutcome(spec: string): Promise<void> {
    await this.#inCluster(this.#seed, async (cluster) => {
      await this.#ask(cluster, spec);
      this.#outcomes.set(spec, outcomeOf(cluster, this.#scenario, this.#stableNames));
    });
  }

  /** How many writes and events there are in the story without faults. */
  async #count(): Promise<Counts> {
    return await this.#inCluster(this.#seed, async (cluster) => {
      await this.#story(cluster);
      const life = this.#life(cluster);
      const isMeant = (path: string) => this.#path.test(path);
      return { writes: life.writes.filter(isMeant).length, events: life.events.filter(isMeant).length };
    });
  }

  #trials(check: CheckName, { writes, events }: Counts): readonly Trial[] {
    const { process, badSpec } = this.#scenario;
    const [first = '', second = first] = this.#specs;
    const path = this.#path;
    const atEvent = (fate: EventFate): readonly Trial[] =>
      Array.from({ length: events }, (_, after) => ({
        point: `event ${after + 1}`,
        run: async (cluster) => {
          cluster.faults.event({ process, path, after, fate });
          await this.#story(cluster);
          await this.#endsAs(cluster, second);
        },
      }));
    switch (check) {
      case 'second reconcile':
        return this.#specs.map((spec) => ({ point: spec, run: (cluster) => this.#writesNothingMore(cluster, spec) }));
      case 'crash at a write':
        return Array.from({ length: writes }, (_, after) => ({
          point: `write ${after + 1}`,
          run: async (cluster) => {
            cluster.faults.request({ process, on: 'write', path, after, fate: { kind: 'crash' } });
            await this.#story(cluster);
            await this.#endsAs(cluster, second);
          },
        }));
      case 'read stale by one':
        return atEvent({ kind: 'late', by: 'one' });
      case 'read stale by many':
        return atEvent({ kind: 'late', by: 'many', forMs: manyMs });
      case 'event missed':
        return atEvent({ kind: 'missed', forMs: missedMs });
      case 'specs in sequence':
        return this.#specs.flatMap((before) =>
          this.#specs.filter((spec) => spec !== before).flatMap((spec) => this.#sequences(before, spec)),
        );
      case 'bad spec, then good':
        return badSpec === undefined
          ? []
          : this.#specs.map((spec) => ({ point: spec, run: (cluster) => this.#recovers(cluster, badSpec, spec) }));
    }
  }

  #sequences(before: string, spec: string): readonly Trial[] {
    return [
      {
        point: `${before}, ${spec}, ${before}`,
        run: async (cluster) => {
          for (const each of [before, spec, before]) await this.#ask(cluster, each);
          await this.#endsAs(cluster, before);
        },
      },
      {
        point: `${before}, ${spec}`,
        run: async (cluster) => {
          for (const each of [before, spec]) await this.#ask(cluster, each);
          await this.#endsAs(cluster, spec);
        },
      },
      {
        point: `${spec} before ${before} is done`,
        run: async (cluster) => {
          await cluster.apply(this.#scenario.specs[before] ?? []);
          await cluster.runUntil('a first write', () => this.#life(cluster).writes.length > 0, this.#settleMs);
          await this.#ask(cluster, spec);
          await this.#endsAs(cluster, spec);
        },
      },
    ];
  }

  /** One that starts anew and finds all as it should be has nothing to write, and one that runs on neither. */
  async #writesNothingMore(cluster: TestCluster, spec: string): Promise<void> {
    const { process } = this.#scenario;
    await this.#ask(cluster, spec);
    await cluster.advance(quietMs);
    const before = this.#life(cluster).writes.length;
    await cluster.advance(quietMs);
    const running = this.#life(cluster).writes.slice(before);
    cluster.faults.crash(process);
    await cluster.advance(quietMs);
    const more = [...running, ...this.#life(cluster).writes].filter((write) => this.#path.test(write));
    const { length } = more;
    if (length > 0)
      throw cluster.failure(`${length} writes although all is as it should be: ${more.slice(0, 3).join(', ')}`);
  }

  async #recovers(cluster: TestCluster, bad: NonNullable<OperatorScenario['badSpec']>, good: string): Promise<void> {
    // That the API server refuses it is as good as an operator that sits it out.
    await cluster.apply(bad).catch((error: unknown) => {
      if (!isStatusError(error, 'Invalid', 'BadRequest')) throw error;
    });
    await cluster.advance(30_000);
    await this.#ask(cluster, good);
    await this.#endsAs(cluster, good);
  }

  /** The first spec, and when that is so the second: the story that faults are put into. */
  async #story(cluster: TestCluster): Promise<void> {
    for (const spec of this.#specs.slice(0, 2)) await this.#ask(cluster, spec);
  }

  async #ask(cluster: TestCluster, spec: string): Promise<void> {
    await cluster.apply(this.#scenario.specs[spec] ?? []);
    await cluster.runUntil(`${spec} to be so`, () => this.#scenario.settled(cluster, spec), this.#settleMs);
  }

  async #endsAs(cluster: TestCluster, spec: string): Promise<void> {
    const wanted = this.#outcomes.get(spec) ?? [];
    let last = '';
    const isSo = () => {
      last = difference(outcomeOf(cluster, this.#scenario, this.#stableNames), wanted);
      return last === '';
    };
    try {
      await cluster.runUntil(`what ${spec} alone leads to`, isSo, this.#settleMs);
    } catch (error) {
      throw last === '' ? error : cluster.failure(`it does not end as ${spec} alone does:\n${last}`, error);
    }
  }

  async #try(check: CheckName, { point, run }: Trial): Promise<PointResult> {
    const at = { check, point };
    let failure: string | undefined;
    try {
      await this.#inCluster(this.#seed, run, this.#options.replay?.(at));
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    this.#options.onPoint?.(at, failure);
    return { ...at, ...(failure === undefined ? {} : { failure }) };
  }

  async #inCluster<T>(seed: number, work: (cluster: TestCluster) => Promise<T>, replay?: string): Promise<T> {
    const { setUp, arrange = [] } = this.#scenario;
    const cluster = await testCluster({
      clock: 'virtual',
      seed,
      ...setUp(),
      ...(replay === undefined ? {} : { replay }),
    });
    try {
      await cluster.apply(arrange);
      return await work(cluster);
    } finally {
      await cluster.stop();
    }
  }

  #life(cluster: TestCluster) {
    const { process } = this.#scenario;
    const life = cluster.processes.find(({ party }) => party === process);
    if (life === undefined) throw new Error(`the scenario's cluster has no process ${process}`);
    return life;
  }

  get #seed(): number {
    return this.#options.seed ?? 1;
  }

  get #settleMs(): number {
    return this.#scenario.settleMs ?? defaultSettleMs;
  }
}

/** At most so many, the first and the last among them. */
function spread<T>(all: readonly T[], atMost: number): readonly T[] {
  if (all.length <= atMost) return all;
  const last = all.length - 1;
  const chosen = Array.from({ length: atMost }, (_, index) => Math.round((index * last) / Math.max(1, atMost - 1)));
  return all.filter((_, index) => chosen.includes(index));
}
