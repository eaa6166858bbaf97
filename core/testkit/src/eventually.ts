import { realWorld, waitFor } from '@castellan/world';

export interface EventuallyOptions {
  readonly deadlineMs: number;
  /** Time between two looks; 20 ms unless told. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
}

/**
 * Looks until `look` gives something other than `undefined` or `false`, and gives that; what `look` throws counts as "not
 * yet", so assertions may be used in it. After the deadline a `DeadlineError` says what was waited for and what the last
 * look threw.
 */
export async function eventually<T>(
  what: string,
  look: (signal: AbortSignal) => Promise<T | undefined | false> | T | undefined | false,
  options: EventuallyOptions,
): Promise<T> {
  let lastError: unknown;
  return await waitFor(
    realWorld(),
    async (signal) => {
      try {
        const found = await look(signal);
        lastError = undefined;
        return found;
      } catch (error) {
        if (!signal.aborted) lastError = error;
        return undefined;
      }
    },
    {
      everyMs: 20,
      ...options,
      what: () => (lastError === undefined ? what : `${what} (last: ${messageOf(lastError)})`),
    },
  );
}

/** The first line: assertions go on with a comparison of many. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}
