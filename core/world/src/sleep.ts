import type { Cancel } from './world.js';

/** A sleep made of any timer. Leaves neither its timer nor its listener on `signal` behind. */
export function sleepWith(
  after: (delayMs: number, callback: () => void) => Cancel,
  delayMs: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
