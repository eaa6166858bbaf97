import { keyOf, pods } from '@castellan/machinery';
import type { Random } from '@castellan/world';
import type { EndFault, RequestFate } from './faults.js';
import type { TestCluster } from './test-cluster.js';

export interface DrawnFaults {
  /** What they befall, such as `etcd`. */
  readonly processes: readonly string[];
  /** Which may be drawn; all when absent. */
  readonly kinds?: readonly FaultKind[];
  /** Faults begin within this time, and all of them have ended at its end, in milliseconds. */
  readonly forMs: number;
  /** Between the beginnings of two faults, on average; 3 s when absent. */
  readonly everyMs?: number;
}

/** See `draws`. */
export type FaultKind = keyof typeof draws;

interface Draw {
  readonly cluster: TestCluster;
  readonly random: Random;
  readonly process: string;
  /** What is left until the end. */
  readonly leftMs: number;
}

const codes = [409, 410, 429, 500, 503] as const;

/** Each begins a fault, and gives what ends it where it lasts. */
const draws = {
  /** Killed after one of its next writes. */
  crash: ({ cluster, random, process }: Draw) => {
    const after = Math.floor(random.next() * 4);
    return cluster.faults.request({ process, on: 'write', after, fate: { kind: 'crash' } });
  },
  /** Killed at once. */
  kill: ({ cluster, random, process }: Draw) => {
    cluster.faults.crash(process, 100 + random.next() * 5_000);
    return undefined;
  },
  /** Requests without a reply, carried out or not. */
  lost: (draw: Draw) => befall(draw, 'any', () => ({ kind: 'lost', isCarriedOut: draw.random.next() < 0.5 })),
  /** Refused requests. */
  answer: (draw: Draw) => befall(draw, 'any', () => ({ kind: 'answer', code: pick(draw.random, codes) ?? 500 })),
  slow: (draw: Draw) => befall(draw, 'any', () => ({ kind: 'slow', byMs: draw.random.next() * 8_000 })),
  partition: ({ cluster, process }: Draw) => cluster.faults.partition(process),
  cut: ({ cluster, process }: Draw) => {
    cluster.faults.cutWatches(process);
    return undefined;
  },
  /** Events that are never seen, only what they led to. */
  missed: ({ cluster, random, process }: Draw) =>
    cluster.faults.event({ process, fate: { kind: 'missed', forMs: 100 + random.next() * 3_000 } }),
  /** Events that come late. */
  late: ({ cluster, random, process }: Draw) =>
    cluster.faults.event({
      process,
      times: 3,
      chance: 0.5,
      fate: { kind: 'late', by: 'many', forMs: random.next() * 5_000 },
    }),
  /** An API server whose caches are behind. */
  lag: ({ cluster, random, process }: Draw) => cluster.faults.lag(process, pick(random, [200, 1_000, 4_000]) ?? 200),
  clock: ({ cluster, random, process }: Draw) => {
    cluster.faults.jumpClock(process, Math.round((random.next() - 0.5) * 120_000));
    return undefined;
  },
  /** A container ends by itself. */
  exit: ({ cluster, random }: Draw) => {
    const running = cluster.state
      .list(pods)
      .filter(({ status }) => status?.containerStatuses?.some(({ state }) => state?.running !== undefined));
    const pod = pick(random, running);
    const container = pod?.spec?.containers[0]?.name;
    if (pod !== undefined && container !== undefined) cluster.nodes.exitIfRunning(keyOf(pod), container);
    return undefined;
  },
  /** A machine stops for a while, and its pods with it. */
  power: ({ cluster, random }: Draw) => {
    const node = pick(random, cluster.nodes.names);
    if (node === undefined) return undefined;
    cluster.nodes.powerOff(node);
    return () => cluster.nodes.powerOn(node);
  },
} satisfies Readonly<Record<string, (draw: Draw) => EndFault | undefined>>;

/** Every kind that can be drawn. */
export const faultKinds: readonly FaultKind[] = Object.keys(draws).filter(isKind);

/** Lets faults begin at times, and be of kinds and lengths, that follow from the cluster's seed. */
export function drawFaults(cluster: TestCluster, plan: DrawnFaults): void {
  const { processes, kinds = faultKinds, forMs, everyMs = 3_000 } = plan;
  const { clock, random } = cluster.world;
  const endMs = clock.monotonicNow() + forMs;
  const ends = new Set<EndFault>();
  const next = (): void => {
    const leftMs = endMs - clock.monotonicNow();
    const waitMs = random.next() * 2 * everyMs;
    if (waitMs >= leftMs) {
      clock.after(leftMs, () => {
        for (const end of ends) end();
        cluster.faults.clear();
      });
      return;
    }
    clock.after(waitMs, () => {
      begin();
      next();
    });
  };
  const begin = (): void => {
    const process = pick(random, processes);
    const kind = pick(random, kinds);
    if (process === undefined || kind === undefined) return;
    const leftMs = endMs - clock.monotonicNow();
    const end = draws[kind]({ cluster, random, process, leftMs });
    if (end === undefined) return;
    ends.add(end);
    clock.after(random.next() * Math.min(leftMs, 10_000), () => {
      ends.delete(end);
      end();
    });
  };
  next();
}

function befall({ cluster, random, process }: Draw, on: 'any' | 'write', fate: () => RequestFate): EndFault {
  return cluster.faults.request({ process, on, times: 20, chance: 0.1 + random.next() * 0.5, fate: fate() });
}

function pick<T>(random: Random, from: readonly T[]): T | undefined {
  return from[Math.floor(random.next() * from.length)];
}

function isKind(name: string): name is FaultKind {
  return name in draws;
}
