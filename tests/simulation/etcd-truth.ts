/** What the members of one simulated etcd cluster agree on. */
export interface EtcdTruth {
  /** Decimal, as are all IDs. */
  readonly id: string;
  /** `--initial-cluster-token` of the seed. */
  readonly token: string;
  readonly members: Map<string, SimulatedMember>;
  /** What clients wrote and were told is written. */
  readonly keys: Set<string>;
  leader: string | undefined;
  term: number;
  logIndex: number;
  isElecting: boolean;
}

export interface SimulatedMember {
  readonly id: string;
  /** Empty until it has started once. */
  name: string;
  readonly peerUrl: string;
  isLearner: boolean;
  isStarted: boolean;
  /** When a learner's log is complete, on the monotonic clock; unknown until it runs. */
  caughtUpAtMs: number | undefined;
}

export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}
