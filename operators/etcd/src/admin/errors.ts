/**
 * What etcd answers when it will not do something, by the text of its message: the codes differ between versions and
 * several refusals share one (etcd: api/v3rpc/rpctypes/error.go).
 */
const refusals = {
  unhealthyCluster: 'unhealthy cluster',
  notEnoughStarted: 're-configuration failed due to not enough started members',
  learnerNotReady: 'can only promote a learner member which is in sync with leader',
  notLearner: 'can only promote a learner member',
  tooManyLearners: 'too many learner members in cluster',
  peerUrlExists: 'Peer URLs already exists',
  /** An ID is made of the peer URLs and the second, so a repeated addition may be refused for either. */
  memberExists: 'member ID already exist',
  memberNotFound: 'member not found',
  notLeader: 'not leader',
  noLeader: 'no leader',
  leaderChanged: 'leader changed',
  timedOut: 'request timed out',
  learnerCannot: 'rpc not supported for learner',
  badTransferee: 'bad leader transferee',
} as const;

export type Refusal = keyof typeof refusals | 'other';

/** etcd answered, and did not do it. */
export class EtcdRefusedError extends Error {
  override readonly name = 'EtcdRefusedError';
  readonly refusal: Refusal;

  constructor(call: string, message: string) {
    super(`etcd refused ${call}: ${message}`);
    this.refusal = refusalOf(message);
  }
}

/** No usable answer came; whether the call was carried out is not known. */
export class EtcdUnreachableError extends Error {
  override readonly name = 'EtcdUnreachableError';

  constructor(call: string, endpoint: string, options: { readonly cause: unknown }) {
    const why = options.cause instanceof Error ? options.cause.message : String(options.cause);
    super(`${call} at ${endpoint} failed: ${why}`, options);
  }
}

/** The table's order matters: `notLearner`'s text is the beginning of `learnerNotReady`'s. */
function refusalOf(message: string): Refusal {
  for (const [refusal, text] of Object.entries(refusals)) {
    if (message.includes(text)) return isRefusal(refusal) ? refusal : 'other';
  }
  return 'other';
}

function isRefusal(text: string): text is keyof typeof refusals {
  return text in refusals;
}
