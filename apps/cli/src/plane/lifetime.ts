import type { World } from '@castellan/world';
import { waitFor } from '@castellan/world';
import type { Context } from '../context.js';
import { CliError } from '../errors.js';
import type { ServedPlane } from './serve.js';

const stopDeadlineMs = 40_000;

/** Resolves at Ctrl-C; fails when a part of the plane does. */
export async function untilStopped({ stopSignal }: Context, { failed }: ServedPlane): Promise<void> {
  const signal = AbortSignal.any([stopSignal, failed]);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  if (failed.aborted) {
    const why = failed.reason instanceof Error ? failed.reason.message : String(failed.reason);
    throw new CliError('START_FAILED', `A part of the plane failed: ${why}`);
  }
}

/** Stops what this process started; every pod has its grace period, and the whole its deadline. */
export async function stopPlane(world: World, served: ServedPlane): Promise<void> {
  const stopped = served.stop().then(() => true);
  await waitFor(world, () => stopped, { what: 'the plane and its pods to stop', deadlineMs: stopDeadlineMs });
}
