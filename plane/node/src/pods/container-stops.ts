import type { ContainerRun } from './container-run.js';

interface Stop {
  readonly run: ContainerRun;
  deadlineMs: number;
  /** Ends before the program is asked to end; the grace period runs meanwhile. */
  readonly hook: { isDone: boolean };
  isAsked: boolean;
}

/** The program may not be up yet: it is asked again after so long. */
const askAgainMs = 25;

/** Containers that are being ended: asked once their preStop hook is done, killed at their deadline. */
export class ContainerStops {
  readonly #stops = new Map<string, Stop>();
  readonly #hookDone: () => void;

  /** `hookDone`: a preStop hook has ended, and `advance` is due. */
  constructor(hookDone: () => void) {
    this.#hookDone = hookDone;
  }

  /** Begins to end a run, or brings its deadline nearer; a deadline is never put off. */
  stop(run: ContainerRun, deadlineMs: number, preStop?: () => Promise<void>): void {
    const known = this.#stops.get(run.id);
    if (known !== undefined) {
      known.deadlineMs = Math.min(known.deadlineMs, deadlineMs);
      return;
    }
    const hook = { isDone: preStop === undefined };
    this.#stops.set(run.id, { run, deadlineMs, hook, isAsked: false });
    if (preStop !== undefined) {
      // However the hook ends: it delays the end, and never prevents it.
      const done = () => {
        hook.isDone = true;
        this.#hookDone();
      };
      void preStop().then(done, done);
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
        this.#stops.delete(id);
        continue;
      }
      if (nowMs >= stop.deadlineMs) stop.run.process.kill();
      else if (stop.hook.isDone && !stop.isAsked) stop.isAsked = stop.run.process.terminate();
      const isWaiting = stop.isAsked || !stop.hook.isDone;
      const againMs = isWaiting && nowMs < stop.deadlineMs ? stop.deadlineMs : nowMs + askAgainMs;
      nextMs = Math.min(nextMs ?? againMs, againMs);
    }
    return nextMs;
  }
}
