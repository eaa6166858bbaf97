import { StatusError } from '@castellan/machinery';
import type { ReflectorFailure } from './reflector-state.js';

export function reflectorFailureOf(error: unknown): ReflectorFailure {
  if (!(error instanceof StatusError)) return 'unavailable';
  if (error.code === 410) return 'expired';
  if (error.code === 404) return 'notServed';
  if (isTooLarge(error)) return 'tooLarge';
  if (error.code === 422 || error.code === 400) return 'notSupported';
  return error.code === 429 || error.code >= 500 ? 'unavailable' : 'other';
}

/** The server has not yet reached the revision that we ask for; servers before 1.19 say so in the message only. */
function isTooLarge({ status }: StatusError): boolean {
  const causes = status.details?.causes ?? [];
  return (
    causes.some(({ reason }) => reason === 'ResourceVersionTooLarge') ||
    (status.message?.includes('Too large resource version') ?? false)
  );
}
