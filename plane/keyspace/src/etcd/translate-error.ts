import { type ServiceError, status } from '@grpc/grpc-js';
import { EtcdRefusedError } from '../errors.js';

/**
 * What a failed call means. `unavailable`: this endpoint could not do it now, another or a later one may. `refused`:
 * etcd has decided. Only with `isUndone` is it certain that a write was not made.
 */
export type Failure =
  | { readonly type: 'unavailable'; readonly reason: string; readonly isUndone: boolean }
  | { readonly type: 'refused'; readonly answer: Answer; readonly error: EtcdRefusedError };

/** Answers that callers tell apart. Source: etcd 3.4, etcdserver/api/v3rpc/rpctypes/error.go. */
export type Answer = 'compacted' | 'future revision' | 'no such lease' | 'other';

const answers: Readonly<Record<string, Answer>> = {
  'etcdserver: mvcc: required revision has been compacted': 'compacted',
  'etcdserver: mvcc: required revision is a future revision': 'future revision',
  'etcdserver: requested lease not found': 'no such lease',
};

/** Codes with which etcd says that it has looked at the request and will not do it. All others leave a doubt. */
const decided: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.RESOURCE_EXHAUSTED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
  status.DATA_LOSS,
]);

/** The member has no leader and, as each of our calls asks for one, did not even look at the request. */
const noLeader = 'etcdserver: no leader';

const nextSteps: readonly (readonly [RegExp, string])[] = [
  [/space exceeded/, 'compact and defragment it, or raise --quota-backend-bytes, then `etcdctl alarm disarm`'],
  [/too large|larger than max/, 'make the object smaller, or raise --max-request-bytes of etcd'],
  [
    /permission denied|authentication|auth token|user name/,
    'give access with a client certificate of a user with a role',
  ],
  [/corrupt/, 'replace the member that the alarm names (`etcdctl alarm list`)'],
  [/too many requests/, 'wait until etcd has caught up'],
];

export function translateFailure(endpoint: string, error: ServiceError): Failure {
  const reason = error.details || error.message;
  if (!decided.has(error.code)) return { type: 'unavailable', reason, isUndone: reason === noLeader };
  const [, next = 'see what etcd has logged'] = nextSteps.find(([pattern]) => pattern.test(reason)) ?? [];
  const refused = new EtcdRefusedError(endpoint, reason, next, { cause: error });
  return { type: 'refused', answer: answers[reason] ?? 'other', error: refused };
}
