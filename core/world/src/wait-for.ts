import type { World } from './world.js';

export interface WaitOptions {
  /** What is waited for, so that it reads after "waited 5 s for": "pod default/etcd-0 to be ready". */
  readonly what: string | (() => string);
  readonly deadlineMs: number;
  /** Time between two looks; 50 ms unless told. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/** A wait that came to its deadline. `what` names what did not happen. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
  readonly code = 'deadline';
  readonly what: string;
  readonly deadlineMs: number;

  constructor(what: string, deadlineMs: number) {
    super(`waited ${deadlineMs / 1000} s for ${what}; it did not happen`);
    this.what = what;
    this.deadlineMs = deadlineMs;
  }
}

/**
 * Looks again and again until `condition` gives something other than `undefined` or `false`, and gives that.
 * What `condition` throws, this throws. A look that hangs is left at the deadline; its signal is aborted then.
 *
 * @throws DeadlineError after `deadlineMs`; the signal's reason when `signal` aborts.
 */
export async function waitFor<T>(
  world: World,
  condition: (signal: AbortSignal) => Promise<T | undefined | false> | T | undefined | false,
  options: WaitOptions,
): Promise<T> {
  const { clock } = world;
  const ending = new AbortController();
  const onAbort = () => ending.abort(options.signal?.reason);
  if (options.signal?.aborted) onAbort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  const deadline = new AbortController();
  const untilDeadline = clock.sleep(options.deadlineMs, deadline.signal).then(
    () => ending.abort(new DeadlineError(describe(options.what), options.deadlineMs)),
    () => undefined,
  );
  try {
    for (;;) {
      ending.signal.throwIfAborted();
      const found = await orAborted(Promise.resolve(condition(ending.signal)), ending.signal);
      if (found !== undefined && found !== false) return found;
      await clock.sleep(options.everyMs ?? 50, ending.signal);
    }
  } finally {
    options.signal?.removeEventListener('abort', onAbort);
    deadline.abort();
    await untilDeadline;
  }
}

function describe(what: string | (() => string)): string {
  return typeof what === 'string' ? what : what();
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
