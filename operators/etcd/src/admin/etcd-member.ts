/** One member as etcd lists it. IDs are decimal, and larger than a JavaScript number can be. */
export interface EtcdMember {
  readonly id: string;
  /** Empty until the member first started. */
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

/** What one member says of itself. */
export interface EtcdMemberState {
  /** Hexadecimal. */
  readonly clusterId: string;
  readonly memberId: string;
  /** Absent while it knows of no leader. */
  readonly leaderId: string | undefined;
  readonly isLearner: boolean;
  readonly version: string;
  readonly raftTerm: number;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly errors: readonly string[];
}
