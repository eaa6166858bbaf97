import type { KubernetesObject, Pod, ResourceType } from '@castellan/machinery';

/** What the command line reads of an EtcdCluster. Everything in status may be absent: a new object has none. */
export interface EtcdCluster extends KubernetesObject {
  readonly spec: { readonly size?: number; readonly version?: string };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly clusterID?: string;
    readonly leader?: string;
    readonly currentVersion?: string;
    readonly clientPort?: number;
    readonly serviceName?: string;
    readonly members?: { readonly ready?: readonly string[]; readonly unready?: readonly string[] };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

export const etcdClusters: ResourceType<EtcdCluster> = {
  group: 'etcd.database.coreos.com',
  version: 'v1beta2',
  kind: 'EtcdCluster',
  plural: 'etcdclusters',
  isNamespaced: true,
};

/** One etcd instance as people see it, put together from its object and its pods. */
export interface InstanceView {
  readonly namespace: string;
  readonly name: string;
  readonly size: number;
  readonly ready: number;
  readonly isAvailable: boolean;
  readonly phase: string;
  /** Why it is not further; '' when there is nothing to say. */
  readonly reason: string;
  readonly wantedVersion: string;
  /** '' until a member runs. */
  readonly version: string;
  /** Of the service for clients; it works inside pods. */
  readonly clientAddress: string;
  readonly members: readonly MemberView[];
}

export interface MemberView {
  readonly name: string;
  readonly role: 'leader' | 'member' | 'joining';
  readonly isReady: boolean;
  /** `http://IP:2379`, or '' while the pod has no address. */
  readonly clientUrl: string;
  readonly state: string;
}

const clientPort = 2379;

/** The label that the operator gives an instance's pods. */
export const instanceLabel = 'etcd_cluster';

export function viewInstance(cluster: EtcdCluster, pods: readonly Pod[]): InstanceView {
  const { spec, status = {}, metadata } = cluster;
  const own = pods.filter((pod) => {
    return pod.metadata.namespace === metadata.namespace && pod.metadata.labels?.[instanceLabel] === metadata.name;
  });
  const ready = status.members?.ready ?? [];
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    size: spec.size ?? 0,
    ready: ready.length,
    isAvailable:
      status.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True') ?? false,
    phase: status.phase ?? '',
    reason: status.reason ?? '',
    wantedVersion: spec.version ?? '',
    version: status.currentVersion ?? '',
    clientAddress: `http://${status.serviceName ?? `${metadata.name}-client`}:${status.clientPort ?? clientPort}`,
    members: own
      .map((pod) => viewMember(pod, ready, status.leader))
      .sort((left, right) => (left.name < right.name ? -1 : 1)),
  };
}

function viewMember(pod: Pod, ready: readonly string[], leader: string | undefined): MemberView {
  const name = pod.metadata.name ?? '';
  const isReady = ready.includes(name);
  const podIp = pod.status?.podIP ?? '';
  return {
    name,
    role: isReady ? (name === leader ? 'leader' : 'member') : 'joining',
    isReady,
    clientUrl: podIp === '' ? '' : `http://${podIp}:${clientPort}`,
    state: stateOf(pod),
  };
}

/** A pod's state in one word or one sentence: what kubectl shows, with the message where there is one. */
export function stateOf(pod: Pod): string {
  if (pod.metadata.deletionTimestamp !== undefined) return 'Terminating';
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  for (const { name, state } of statuses) {
    const stopped = state?.waiting ?? (state?.terminated?.exitCode === 0 ? undefined : state?.terminated);
    if (stopped?.reason === undefined || stopped.reason === 'PodInitializing') continue;
    return stopped.message === undefined ? stopped.reason : `${stopped.reason}: ${name}: ${stopped.message}`;
  }
  const unscheduled = pod.status?.conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return unscheduled?.message ?? pod.status?.phase ?? 'Pending';
}
