import {
  type Container,
  defineKind,
  type EnvVar,
  type PodSpec,
  type ReadOf,
  s,
  type Toleration,
  type WriteOf,
} from '@castellan/machinery';

export const defaults = {
  version: '3.2.13',
  repository: 'quay.io/coreos/etcd',
  busyboxImage: 'busybox:1.28.0-glibc',
} as const;

/** A pod's name is the cluster's, a dash and ten characters, and it is a host name: 63 at most. */
export const longestClusterName = 63 - 1 - 10;

export const sizes = { smallest: 1, largest: 7 } as const;

// Named, so that the declarations of this package need not spell them out.
interface Affinity extends NonNullable<PodSpec['affinity']> {}
interface PodSecurityContext extends NonNullable<PodSpec['securityContext']> {}
interface ResourceRequirements extends NonNullable<Container['resources']> {}
interface EtcdEnvVar extends EnvVar {}

/** Parts of a pod, which the API server checks when the pod is made. */
const podPolicy = s
  .object({
    labels: s.map(s.string()).optional(),
    annotations: s.map(s.string()).optional(),
    nodeSelector: s.map(s.string()).optional(),
    affinity: s.anyFields<Affinity>().optional(),
    /** Keep members of one cluster on different nodes. */
    antiAffinity: s.boolean().optional(),
    tolerations: s.array(s.anyFields<Toleration>()).optional(),
    resources: s.anyFields<ResourceRequirements>().optional(),
    securityContext: s.anyFields<PodSecurityContext>().optional(),
    etcdEnv: s.array(s.anyFields<EtcdEnvVar>()).optional(),
    busyboxImage: s.string().optional(),
    /** Seconds to wait for the pod's DNS name; 0 waits for ever. */
    DNSTimeoutInSecond: s.integer().min(0).optional(),
    /** Appended to DNS names, such as `.cluster.local`. */
    ClusterDomain: s.string().optional(),
    persistentVolumeClaimSpec: s.anyFields<unknown>().optional(),
  })
  .describe('How the pods of members are made. Applies to pods made from now on.');

const spec = s.object({
  size: s
    .integer()
    .min(sizes.smallest)
    .max(sizes.largest)
    .describe('Voting members wanted. Odd numbers are the useful ones.'),
  version: s
    .string()
    .pattern('^v?[0-9]+\\.[0-9]+\\.[0-9]+(-[0-9A-Za-z.-]+)?$')
    .describe('The version of etcd, such as 3.5.16.')
    .default(defaults.version),
  repository: s.string().describe(`Where the image comes from; ${defaults.repository} when absent.`).optional(),
  paused: s.boolean().describe('While true nothing is changed; the status is still kept up to date.').optional(),
  pod: podPolicy.optional(),
  TLS: s.anyFields<{ readonly static?: unknown }>().optional(),
});

const condition = s.object({
  type: s.string(),
  status: s.string(),
  observedGeneration: s.integer().optional(),
  lastTransitionTime: s.dateTime().optional(),
  reason: s.string().optional(),
  message: s.string().optional(),
});

/** A member as the operator last saw it, which always writes all but the version. */
export interface EtcdMemberStatus {
  readonly name: string;
  /** Hexadecimal, as etcdctl prints it. */
  readonly id: string;
  readonly role: 'leader' | 'voter' | 'learner';
  readonly isHealthy: boolean;
  readonly version?: string;
}

const memberDetails = s.array(
  s
    .object({
      name: s.string().optional(),
      id: s.string().optional(),
      role: s.string().optional(),
      isHealthy: s.boolean().optional(),
      version: s.string().optional(),
    })
    .narrow<EtcdMemberStatus>(),
);

const status = s.object({
  phase: s.enumeration(['Creating', 'Running', 'Failed']).optional(),
  reason: s.string().describe('What is being done or waited for, and why.').optional(),
  conditions: s.array(condition).by('type').optional(),
  controlPaused: s.boolean().optional(),
  observedGeneration: s.integer().optional(),
  /** Members that there are, voting or not. */
  size: s.integer().optional(),
  readyMembers: s.integer().optional(),
  serviceName: s.string().optional(),
  clientPort: s.integer().optional(),
  /** Names of pods that are ready, and of members that are not. */
  members: s.object({ ready: s.array(s.string()).optional(), unready: s.array(s.string()).optional() }).optional(),
  memberDetails: memberDetails.optional(),
  /** The lowest version that a member says it runs. */
  currentVersion: s.string().optional(),
  targetVersion: s.string().optional(),
  clusterID: s.string().describe('Set once when the cluster has formed, and never changed.').optional(),
  leader: s.string().optional(),
});

/** `etcd.database.coreos.com/v1beta2`, field-compatible with the operator that the kind comes from (seed 000). */
export const etcdClusters = defineKind({
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  kind: 'EtcdCluster',
  shortNames: ['etcd'],
  description: 'An etcd cluster.',
  spec,
  status,
  columns: [
    { name: 'Size', jsonPath: '.spec.size' },
    { name: 'Ready', jsonPath: '.status.readyMembers' },
    { name: 'Version', jsonPath: '.status.currentVersion' },
    { name: 'Phase', jsonPath: '.status.phase' },
    { name: 'Leader', jsonPath: '.status.leader', priority: 1 },
    { name: 'Status', jsonPath: '.status.reason', priority: 1 },
    { name: 'Age', jsonPath: '.metadata.creationTimestamp' },
  ],
  rules: [
    {
      rule: `self.metadata.name.size() <= ${longestClusterName}`,
      message: `the name may have ${longestClusterName} characters, so that the names of its pods are host names`,
    },
  ],
});

export type EtcdCluster = ReadOf<typeof etcdClusters>;
/** As a manifest has it: what has a default may be left out. */
export type EtcdClusterManifest = WriteOf<typeof etcdClusters>;
export type EtcdClusterSpec = ReadOf<typeof spec>;
export type EtcdClusterStatus = ReadOf<typeof status>;
export type EtcdPodPolicy = ReadOf<typeof podPolicy>;
export type EtcdPhase = NonNullable<EtcdClusterStatus['phase']>;
