import type { RawRequest } from '@castellan/client';
import type { World } from '@castellan/world';
import type { History } from './history.js';
import type { ProcessLife } from './process-life.js';

/** What befalls a request on its way. */
export type RequestFate =
  /** The API server answers so, and has not carried it out. 429 and 503 ask to come again in a second. */
  | { readonly kind: 'answer'; readonly code: 409 | 410 | 429 | 500 | 503 }
  /** The connection breaks: no reply comes, and the client cannot know whether it was carried out. */
  | { readonly kind: 'lost'; readonly isCarriedOut: boolean }
  | { readonly kind: 'slow'; readonly byMs: number }
  /** The process dies once the API server has carried it out: nothing of its memory is left. */
  | { readonly kind: 'crash' };

export interface RequestFault {
  /** Name of a process; every process but the test when absent. */
  readonly process?: string;
  readonly on: 'read' | 'write' | 'watch' | 'any';
  /** The path with its query must match. */
  readonly path?: RegExp;
  /** So many pass first; 0 when absent. */
  readonly after?: number;
  /** Then so many are struck; 1 when absent. */
  readonly times?: number;
  /** The chance of each to be struck, in [0, 1]; 1 when absent. */
  readonly chance?: number;
  readonly fate: RequestFate;
}

/** What befalls one event of a watch. */
export type EventFate =
  /** It comes when the next event of its stream is there, or after 10 s: the cache lags by one. */
  | { readonly kind: 'late'; readonly by: 'one' }
  /** It and all after it in its stream come so much later. */
  | { readonly kind: 'late'; readonly by: 'many'; readonly forMs: number }
  /** The stream breaks before it; the client resumes and gets it then. */
  | { readonly kind: 'cut' }
  /**
   * The stream breaks, and for `forMs` no other can be opened; then its revision is forgotten (410), so that a list follows: this
   * event and those of that time are never seen, only what they led to.
   */
  | { readonly kind: 'missed'; readonly forMs: number };

export interface EventFault {
  readonly process?: string;
  /** The path of the watch must match. */
  readonly path?: RegExp;
  /** So many events pass first; 0 when absent. */
  readonly after?: number;
  readonly times?: number;
  readonly chance?: number;
  readonly fate: EventFate;
}

/** Ends a fault; harmless when it has ended. */
export type EndFault = () => void;

interface Placed<Fault> {
  readonly fault: Fault;
  toPass: number;
  toStrike: number;
}

/**
 * Faults of the connection between processes and the API server, and of the processes themselves. Each is placed by hand, or
 * drawn from the seed (`faultPlan`).
 */
export class Faults {
  readonly #requests = new Set<Placed<RequestFault>>();
  readonly #events = new Set<Placed<EventFault>>();
  readonly #world: World;
  readonly #history: History;
  readonly #processes: () => readonly ProcessLife[];

  constructor(options: {
    readonly world: World;
    readonly history: History;
    readonly processes: () => readonly ProcessLife[];
  }) {
    this.#world = options.world;
    this.#history = options.history;
    this.#processes = options.processes;
  }

  request(fault: RequestFault): EndFault {
    return place(this.#requests, fault);
  }

  event(fault: EventFault): EndFault {
    return place(this.#events, fault);
  }

  /** Nothing passes between the process and the API server any more, until this is ended; its connections break then. */
  partition(process: string): EndFault {
    const { party } = this.#note(process, 'is cut off');
    const heals = this.#find(party).map((found) => found.partition());
    let isHealed = false;
    return () => {
      if (isHealed) return;
      isHealed = true;
      this.#note(process, 'is connected again');
      for (const heal of heals) heal();
    };
  }

  /** Connects the process to an API server whose caches are so much behind, until this is ended. Its connections break. */
  lag(process: string, lagMs: number): EndFault {
    this.#note(process, `asks an API server that is ${lagMs} ms behind`);
    for (const found of this.#find(process)) found.useReplica(lagMs);
    return () => {
      for (const found of this.#find(process)) found.useReplica(0);
    };
  }

  /** Ends the process as SIGKILL does, and starts it anew after `restartMs`. */
  crash(process: string, restartMs = 1_000): void {
    this.#note(process, 'is killed');
    for (const found of this.#find(process)) found.crash(restartMs);
  }

  /** Breaks every watch of the process; it resumes where it was. */
  cutWatches(process: string): void {
    this.#note(process, 'loses its watches');
    for (const found of this.#find(process)) found.cutWatches();
  }

  /** Sets the wall clock of one process forward, or back. */
  jumpClock(process: string, byMs: number): void {
    this.#note(process, `has its clock set by ${byMs} ms`);
    for (const found of this.#find(process)) found.world.jumpWallClock(byMs);
  }

  /** Ends what was placed with `request` and `event`. */
  clear(): void {
    this.#requests.clear();
    this.#events.clear();
  }

  /** What befalls this request; `undefined`: nothing. */
  fateOfRequest(party: string, request: RawRequest): RequestFate | undefined {
    const kind = kindOf(request);
    return this.#strike(this.#requests, ({ process, on, path }) => {
      const isMeant = (process === undefined || process === party) && (on === 'any' || on === kind);
      return isMeant && path?.test(request.path) !== false;
    })?.fate;
  }

  fateOfEvent(party: string, watchPath: string): EventFate | undefined {
    return this.#strike(
      this.#events,
      ({ process, path }) => (process === undefined || process === party) && path?.test(watchPath) !== false,
    )?.fate;
  }

  #strike<Fault extends RequestFault | EventFault>(
    faults: Set<Placed<Fault>>,
    isMeant: (fault: Fault) => boolean,
  ): Fault | undefined {
    for (const placed of faults) {
      const { fault } = placed;
      if (!isMeant(fault)) continue;
      if (placed.toPass > 0) {
        placed.toPass -= 1;
        continue;
      }
      if (fault.chance !== undefined && this.#world.random.next() >= fault.chance) continue;
      placed.toStrike -= 1;
      if (placed.toStrike === 0) faults.delete(placed);
      return fault;
    }
    return undefined;
  }

  #find(process: string): readonly ProcessLife[] {
    return this.#processes().filter(({ party }) => party === process);
  }

  #note(party: string, text: string): { readonly party: string } {
    if (this.#find(party).length === 0) {
      const known = this.#processes().map((process) => process.party);
      throw new Error(`no process is named ${party}; next: name one of ${known.join(', ')}`);
    }
    this.#history.note(party, 'fault', text);
    return { party };
  }
}

export function kindOf({ method, path }: RawRequest): 'read' | 'write' | 'watch' {
  if (method !== 'GET') return 'write';
  return path.includes('watch=true') ? 'watch' : 'read';
}

function place<Fault extends RequestFault | EventFault>(faults: Set<Placed<Fault>>, fault: Fault): EndFault {
  const placed = { fault, toPass: fault.after ?? 0, toStrike: fault.times ?? 1 };
  faults.add(placed);
  return () => {
    faults.delete(placed);
  };
}
