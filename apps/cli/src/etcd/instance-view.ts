import type { EtcdCluster, EtcdClusterStatus, EtcdMemberStatus } from '@castellan/etcd';
import type { Pod } from '@castellan/machinery';

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
  readonly members: readonly InstanceMember[];
}

export interface InstanceMember {
  readonly name: string;
  /** `none` until etcd lists it as a member. */
  readonly role: EtcdMemberStatus['role'] | 'none';
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
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    size: spec.size,
    ready: status.members?.ready?.length ?? 0,
    isAvailable:
      status.conditions?.some(({ type, status: value }) => type === 'Available' && value === 'True') ?? false,
    phase: status.phase ?? '',
    reason: status.reason ?? '',
    wantedVersion: status.targetVersion ?? spec.version,
    version: status.currentVersion ?? '',
    clientAddress: `http://${status.serviceName ?? `${metadata.name}-client`}:${status.clientPort ?? clientPort}`,
    members: own.map((pod) => viewMember(pod, status)).sort((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

function viewMember(pod: Pod, { members, memberDetails }: EtcdClusterStatus): InstanceMember {
  const name = pod.metadata.name ?? '';
  const podIp = pod.status?.podIP ?? '';
  return {
    name,
    role: memberDetails?.find((member) => member.name === name)?.role ?? 'none',
    isReady: members?.ready?.includes(name) ?? false,
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
