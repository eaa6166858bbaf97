import { KeyspaceError } from '@castellan/keyspace';
import { StatusError, type StatusReason } from '@castellan/machinery';
import { DecryptionError } from '../encryption/value-transformer.js';

/**
 * What clients are told of a storage that failed: to come again when no harm was done, and that nobody knows when a write
 * may or may not have been made (504, which clients do not repeat blindly).
 */
const reasons: Readonly<Record<string, { readonly reason: StatusReason; readonly retryAfterSeconds?: number }>> = {
  EtcdUnreachable: { reason: 'ServiceUnavailable', retryAfterSeconds: 1 },
  EtcdRefused: { reason: 'ServiceUnavailable', retryAfterSeconds: 5 },
  KeyspaceClosed: { reason: 'ServiceUnavailable', retryAfterSeconds: 1 },
  UncertainWrite: { reason: 'Timeout' },
};

/** The error for the client, or `undefined` where `error` is none of the storage's expected ones. */
export function storageFailure(error: unknown): StatusError | undefined {
  if (error instanceof DecryptionError) return notOpened(error.message);
  if (!(error instanceof KeyspaceError)) return undefined;
  const { reason, retryAfterSeconds } = reasons[error.code] ?? { reason: 'InternalError' };
  return StatusError.of(reason, error.message, retryAfterSeconds === undefined ? undefined : { retryAfterSeconds });
}

function notOpened(message: string): StatusError {
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  });
}
