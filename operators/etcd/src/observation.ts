/** What the planner is asked for: the spec, parsed, with what is wrong with it. */
export interface EtcdDesired {
  /** The EtcdCluster's name; its services and pods are named after it. */
  readonly name: string;
  readonly size: number;
  readonly isPaused: boolean;
  /** Set when the spec cannot be carried out, whatever the cluster looks like. */
  readonly problem?: { readonly reason: string; readonly remedy: string };
}

/**
 * What was seen of one etcd cluster in one pass. Pods were read before the members, so a pod without a member is one
 * that was removed (or never was ours), not one whose member we have not heard of yet.
 */
export interface EtcdObservation {
  readonly hasPeerService: boolean;
  readonly hasClientService: boolean;
  /** `status.clusterID`: set once, when the seed had formed its cluster; never changed. */
  readonly latchedClusterId: string | undefined;
  /** The name of the seed's pod: the same in every pass, so that creating it twice creates it once. */
  readonly seedName: string;
  /** A name for the next pod that no pod had before. */
  readonly freshName: string;
  readonly pods: readonly PodView[];
  readonly membership: Membership;
  /** Set while etcd is known to refuse the addition, or the removal of a healthy member. */
  readonly pause: { readonly reason: string; readonly forMs: number } | undefined;
}

/**
 * - `starting`: not running, and may come (back) with the data it had
 * - `running`: the etcd process runs
 * - `terminating`: being deleted, still within its grace period; its data goes with it
 * - `dead`: will not run again with its data
 */
export type PodPhase = 'starting' | 'running' | 'terminating' | 'dead';

export interface PodView {
  readonly name: string;
  readonly uid: string;
  readonly phase: PodPhase;
  /** Its readiness probe succeeds, so clients may be sent to it. */
  readonly isReady: boolean;
  /** Why it is not ready, for people; absent when it is. */
  readonly unreadyNote?: string;
  /** What `--initial-cluster-state` would be if the container started now. */
  readonly initialState: 'new' | 'existing';
  /** Its etcd was started again, and has run since for longer than it takes to answer. It may be answering. */
  readonly isOverdue: boolean;
  /** Position among the pods by time of creation; higher is newer. */
  readonly age: number;
  /** Why it is in this phase, for people. */
  readonly note: string;
}

/**
 * - `unknown`: no voter answered, and learners do not know; nothing is assumed. `learners` are the pods that answered
 *   as learners, so that no quorum can come from them
 * - `mismatch`: members answered that belong to different clusters
 * - `known`: the newest list among those that answered
 */
export type Membership =
  | { readonly kind: 'unknown'; readonly reason: string; readonly learners: readonly string[] }
  | { readonly kind: 'mismatch'; readonly reason: string }
  | { readonly kind: 'known'; readonly clusterId: string; readonly members: readonly MemberView[] };

export interface MemberView {
  /** Decimal, as etcd's JSON has it; larger than a JavaScript number can be. */
  readonly id: string;
  /** The first label of its peer URL's host, which is its pod's name. */
  readonly name: string;
  readonly isLearner: boolean;
  /** Whether it ever joined: etcd learns a member's name when it first starts. */
  readonly isStarted: boolean;
  readonly isLeader: boolean;
  /** It answered, as a member of this cluster. */
  readonly isHealthy: boolean;
  /** For learners: its log has come close enough to the leader's to be promoted. */
  readonly isCaughtUp: boolean;
  /** For learners: it has had the time that joining may take, and has not caught up. */
  readonly isOverdue: boolean;
  /** As it says itself, when it answers. */
  readonly version: string | undefined;
}

/** What may be done, one write each. */
export type EtcdStep =
  | { readonly kind: 'createPeerService' }
  | { readonly kind: 'createClientService' }
  | { readonly kind: 'createSeed'; readonly name: string }
  /** Deletes the pod of a seed that formed no cluster, so that it is made anew. */
  | { readonly kind: 'discardSeed'; readonly name: string; readonly uid: string }
  | { readonly kind: 'latchCluster'; readonly clusterId: string }
  | { readonly kind: 'sealSeed'; readonly name: string; readonly uid: string }
  | { readonly kind: 'addLearner'; readonly name: string }
  /** `peers` are the members that its `--initial-cluster` names, itself among them. */
  | { readonly kind: 'createPod'; readonly name: string; readonly peers: readonly string[] }
  | { readonly kind: 'promote'; readonly id: string; readonly name: string }
  | { readonly kind: 'moveLeader'; readonly from: string; readonly id: string; readonly name: string }
  | { readonly kind: 'removeMember'; readonly id: string; readonly name: string; readonly isReplaced: boolean }
  | { readonly kind: 'deletePod'; readonly name: string; readonly uid: string; readonly isForced: boolean };

/** How many voters must agree. */
export function quorumOf(voters: number): number {
  return Math.floor(voters / 2) + 1;
}
