import type { ContainerRun } from './container-run.js';

export interface StopTerms {
  /** When it is killed at the latest, milliseconds since the epoch; at once, if that is over. */
  readonly deadlineMs: number;
  /** Ends before the program is asked to end; the grace period runs meanwhile. `signal`: the deadline is over. */
  readonly preStop?: (signal: AbortSignal) => Promise<void>;
  /** Others are to end before it is asked: it waits for them until its deadline. */
  readonly mayBeAsked?: () => boolean;
}

interface Stop {
  readonly run: ContainerRun;
  deadlineMs: number;
  /** To be killed with no further question. */
  isForced: boolean;
  readonly hook: { isDone: boolean; readonly abort: AbortController };
  readonly mayBeAsked: () => boolean;
  isAsked: boolean;
}

/** The program may not be up yet: it is asked again after so long. */
const askAgainMs = 25;
/** Whatever was spent on hooks and on waiting for others, a program has so long to comply (as kubelet has it). */
const leastGraceMs = 2_000;

/** Containers that are being ended: asked once their preStop hook is done, killed at their deadline. */
export class ContainerStops {
  readonly #stops = new Map<string, Stop>();
  readonly #hookDone: () => void;

  /** `hookDone`: a preStop hook has ended, and `advance` is due. */
  constructor(hookDone: () => void) {
    this.#hookDone = hookDone;
  }

  /** Begins to end a run, or brings its deadline nearer; a deadline is never put off. */
  stop(run: ContainerRun, nowMs: number, { deadlineMs, preStop, mayBeAsked = () => true }: StopTerms): void {
    const isForced = deadlineMs <= nowMs;
    const known = this.#stops.get(run.id);
    if (known !== undefined) {
      if (isForced && !known.isAsked) known.isForced = true;
      known.deadlineMs = Math.min(known.deadlineMs, deadlineMs);
      return;
    }
    const hook = { isDone: preStop === undefined || isForced, abort: new AbortController() };
    this.#stops.set(run.id, { run, deadlineMs, isForced, hook, mayBeAsked, isAsked: false });
    if (preStop !== undefined && !isForced) {
      // However the hook ends: it delays the end, and never prevents it.
      const done = () => {
        hook.isDone = true;
        this.#hookDone();
      };
      void preStop(hook.abort.signal).then(done, done);
    }
  }

  isStopping(run: ContainerRun): boolean {
    return this.#stops.has(run.id);
  }

  /** Does what is due; the result is when to come again, and `undefined` when nothing is left to be ended. */
  advance(nowMs: number): number | undefined {
    let nextMs: number | undefined;
    for (const [id, stop] of this.#stops) {
      if (!stop.run.isRunning()) {
        // What its program left behind in the container ends with it.
        stop.run.process.kill();
        stop.hook.abort.abort();
        this.#stops.delete(id);
        continue;
      }
      const againMs = this.#advance(stop, nowMs);
      nextMs = Math.min(nextMs ?? againMs, againMs);
    }
    return nextMs;
  }

  #advance(stop: Stop, nowMs: number): number {
    const isLate = nowMs >= stop.deadlineMs;
    if (stop.isForced || (isLate && stop.isAsked)) {
      stop.run.process.kill();
      return nowMs + askAgainMs;
    }
    if (stop.isAsked) return stop.deadlineMs;
    if (isLate) stop.hook.abort.abort();
    else if (!stop.hook.isDone) return stop.deadlineMs;
    else if (!stop.mayBeAsked()) return nowMs + askAgainMs;
    stop.isAsked = stop.run.process.terminate(stop.run.record.stopSignal);
    if (!stop.isAsked) {
      // It has not become its program yet; one that does not within the grace period is no program to be asked.
      stop.isForced = isLate;
      return nowMs + askAgainMs;
    }
    stop.deadlineMs = Math.max(stop.deadlineMs, nowMs + leastGraceMs);
    return stop.deadlineMs;
  }
}
