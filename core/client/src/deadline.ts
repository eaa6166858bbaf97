import { type Clock, DeadlineError } from '@castellan/world';

/**
 * A signal that aborts after a time, with a DeadlineError that names what was waited for, or when its parent does.
 * `dispose` it as soon as it is not needed.
 */
export interface Deadline {
  readonly signal: AbortSignal;
  readonly isPassed: boolean;
  dispose(): void;
}

/**
 * As AbortSignal.any([AbortSignal.timeout(ms), parent]), with the time of a World, and leaving nothing behind on a
 * long-lived parent.
 */
export function startDeadline(clock: Clock, afterMs: number, what: string, parent?: AbortSignal): Deadline {
  const controller = new AbortController();
  let isPassed = false;
  const cancelTimer = clock.after(afterMs, () => {
    isPassed = true;
    controller.abort(new DeadlineError(what, afterMs));
  });
  const onParentAbort = (): void => controller.abort(parent?.reason);
  if (parent?.aborted) onParentAbort();
  else parent?.addEventListener('abort', onParentAbort, { once: true });
  return {
    signal: controller.signal,
    get isPassed() {
      return isPassed;
    },
    dispose() {
      cancelTimer();
      parent?.removeEventListener('abort', onParentAbort);
    },
  };
}
