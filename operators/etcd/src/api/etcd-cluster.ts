import type { Condition, Container, EnvVar, KubernetesObject, PodSpec, ResourceType } from '@castellan/machinery';

/** `etcd.database.coreos.com/v1beta2`, field-compatible with the operator that the kind comes from (seed 000). */
export interface EtcdCluster extends KubernetesObject {
  readonly spec: EtcdClusterSpec;
  readonly status?: EtcdClusterStatus;
}

export interface EtcdClusterSpec {
  /** Voting members wanted, 1 to 7; odd numbers are the useful ones. */
  readonly size: number;
  /** Semantic version, with or without a leading `v`. */
  readonly version?: string;
  /** Where the image comes from; its tag is `v` and the version. */
  readonly repository?: string;
  /** While true nothing is changed; the status is still kept up to date. */
  readonly paused?: boolean;
  readonly pod?: EtcdPodPolicy;
  readonly TLS?: { readonly static?: unknown };
}

/** How the members' pods are to be made; applies to pods made from now on. */
export interface EtcdPodPolicy {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: PodSpec['affinity'];
  /** Keep members of one cluster on different nodes. */
  readonly antiAffinity?: boolean;
  readonly tolerations?: PodSpec['tolerations'];
  readonly resources?: Container['resources'];
  readonly securityContext?: PodSpec['securityContext'];
  readonly etcdEnv?: readonly EnvVar[];
  readonly busyboxImage?: string;
  /** Seconds to wait for the pod's DNS name; 0 waits for ever. */
  readonly DNSTimeoutInSecond?: number;
  /** Appended to DNS names, such as `.cluster.local`. */
  readonly ClusterDomain?: string;
  readonly persistentVolumeClaimSpec?: unknown;
}

export type EtcdPhase = 'Creating' | 'Running' | 'Failed';

export interface EtcdClusterStatus {
  readonly phase?: EtcdPhase;
  /** What is being done or waited for, and why: the planner's sentence. */
  readonly reason?: string;
  readonly conditions?: readonly Condition[];
  readonly controlPaused?: boolean;
  readonly observedGeneration?: number;
  /** Members that there are, voting or not. */
  readonly size?: number;
  readonly readyMembers?: number;
  readonly serviceName?: string;
  readonly clientPort?: number;
  /** Names of pods that are ready, and of members that are not. */
  readonly members?: { readonly ready?: readonly string[]; readonly unready?: readonly string[] };
  readonly memberDetails?: readonly EtcdMemberStatus[];
  /** The lowest version that a member says it runs. */
  readonly currentVersion?: string;
  readonly targetVersion?: string;
  /** Hexadecimal, as etcdctl prints it. Set once when the cluster has formed, and never changed. */
  readonly clusterID?: string;
  readonly leader?: string;
}

export interface EtcdMemberStatus {
  readonly name: string;
  /** Hexadecimal, as etcdctl prints it. */
  readonly id: string;
  readonly role: 'leader' | 'voter' | 'learner';
  readonly isHealthy: boolean;
  readonly version?: string;
}

export const etcdClusters: ResourceType<EtcdCluster> = {
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  kind: 'EtcdCluster',
  plural: 'etcdclusters',
  isNamespaced: true,
};

export const defaults = {
  version: '3.2.13',
  repository: 'quay.io/coreos/etcd',
  busyboxImage: 'busybox:1.28.0-glibc',
} as const;

/** A pod's name is the cluster's, a dash and ten characters, and it is a host name: 63 at most. */
export const longestClusterName = 63 - 1 - 10;

export const sizes = { smallest: 1, largest: 7 } as const;
