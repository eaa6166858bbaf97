import type { ContainerRun } from './container-run.js';
import { type HookPlace, runHook } from './lifecycle-hook.js';

export interface HookListener {
  /** The hook has ended well, or the container did before it. */
  done(): void;
  failed(message: string): void;
}

/** The postStart hooks of a pod's containers while they run. A hook is begun once for each start, by the plane that made it. */
export class PostStartHooks {
  readonly #running = new Map<string, AbortController>();

  begin(run: ContainerRun, place: HookPlace, listener: HookListener): void {
    const handler = place.container.lifecycle?.postStart;
    if (handler === undefined || this.#running.has(run.id)) return;
    const abort = new AbortController();
    this.#running.set(run.id, abort);
    const ended = (error?: unknown) => {
      this.#running.delete(run.id);
      if (error === undefined || abort.signal.aborted) listener.done();
      else listener.failed(error instanceof Error ? error.message : String(error));
    };
    void runHook(handler, place, abort.signal).then(() => ended(), ended);
  }

  isRunning(run: ContainerRun): boolean {
    return this.#running.has(run.id);
  }

  /** The container has ended, or is no longer ours to work on. */
  cancel(run: ContainerRun): void {
    this.#running.get(run.id)?.abort();
  }
}
