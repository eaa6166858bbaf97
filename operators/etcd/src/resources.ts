import type { Container, ObjectMeta, Pod, PodSpec, Service } from '@castellan/machinery';
import { apiVersionOf } from '@castellan/machinery';
import { defaults, type EtcdCluster, etcdClusters } from './api/etcd-cluster.js';
import { targetVersionOf } from './desired.js';
import {
  clientServiceName,
  dnsNameOf,
  initialStateAnnotation,
  memberLabels,
  peerUrlOf,
  ports,
  versionAnnotation,
} from './names.js';

/**
 * Headless: gives each pod its DNS name, before it is ready too, since members must find each other to become ready.
 */
export function peerService(cluster: EtcdCluster): Service {
  const name = cluster.metadata.name ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...ownedMetadata(cluster, name),
      annotations: { 'service.alpha.kubernetes.io/tolerate-unready-endpoints': 'true' },
    },
    spec: {
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      selector: memberLabels(name),
      ports: [
        { name: 'client', port: ports.client, targetPort: ports.client, protocol: 'TCP' },
        { name: 'peer', port: ports.peer, targetPort: ports.peer, protocol: 'TCP' },
      ],
    },
  };
}

/** One address for clients, in front of the members that are ready. */
export function clientService(cluster: EtcdCluster): Service {
  const name = cluster.metadata.name ?? '';
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ownedMetadata(cluster, clientServiceName(name)),
    spec: {
      type: 'ClusterIP',
      selector: memberLabels(name),
      ports: [{ name: 'client', port: ports.client, targetPort: ports.client, protocol: 'TCP' }],
    },
  };
}

export interface MemberPodOptions {
  readonly name: string;
  readonly initialState: 'new' | 'existing';
  /** Every member as `--initial-cluster` wants it, this one among them. */
  readonly initialCluster: readonly { readonly name: string; readonly peerUrl: string }[];
}

/** A bare pod: members are not alike, and etcd's own membership is what remembers them. Seed 000 has its command line. */
export function memberPod(cluster: EtcdCluster, options: MemberPodOptions): Pod {
  const { name, initialState } = options;
  const policy = cluster.spec.pod ?? {};
  const labels = { ...policy.labels, ...memberLabels(cluster.metadata.name ?? ''), etcd_node: name };
  const spec: PodSpec = {
    hostname: name,
    subdomain: cluster.metadata.name ?? '',
    // A member that crashed comes back in place with its data; anything worse is for the operator.
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 5,
    automountServiceAccountToken: false,
    initContainers: [checkDns(cluster, name)],
    containers: [etcdContainer(cluster, options)],
    volumes: [{ name: 'etcd-data', emptyDir: {} }],
    ...(policy.nodeSelector && { nodeSelector: policy.nodeSelector }),
    ...(policy.tolerations && { tolerations: policy.tolerations }),
    ...(policy.securityContext && { securityContext: policy.securityContext }),
    ...affinityOf(cluster),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...ownedMetadata(cluster, name),
      labels,
      annotations: {
        ...policy.annotations,
        [versionAnnotation]: targetVersionOf(cluster),
        [initialStateAnnotation]: initialState,
      },
    },
    spec,
  };
}

/** Holds etcd back until the pod's own DNS name resolves: etcd would exit at once if it did not. */
function checkDns(cluster: EtcdCluster, podName: string): Container {
  const { busyboxImage = defaults.busyboxImage, DNSTimeoutInSecond: timeoutSeconds = 0 } = cluster.spec.pod ?? {};
  const script = `
name=${dnsNameOf(cluster, podName)}
started=$(date +%s)
until nslookup "$name" >/dev/null 2>&1 || getent hosts "$name" >/dev/null 2>&1; do
  if [ ${timeoutSeconds} -gt 0 ] && [ $(($(date +%s) - started)) -ge ${timeoutSeconds} ]; then
    echo "$name did not resolve in ${timeoutSeconds} s" >&2
    exit 1
  fi
  sleep 0.2 2>/dev/null || sleep 1
done`;
  return { name: 'check-dns', image: busyboxImage, command: ['/bin/sh', '-c', script.trim()] };
}

function etcdContainer(cluster: EtcdCluster, { name, initialCluster }: MemberPodOptions): Container {
  const policy = cluster.spec.pod ?? {};
  const members = initialCluster.map((member) => `${member.name}=${member.peerUrl}`).join(',');
  return {
    name: 'etcd',
    image: `${cluster.spec.repository ?? defaults.repository}:v${targetVersionOf(cluster)}`,
    command: [
      '/usr/local/bin/etcd',
      '--data-dir=/var/etcd/data',
      `--name=${name}`,
      `--initial-advertise-peer-urls=${peerUrlOf(cluster, name)}`,
      `--listen-peer-urls=http://0.0.0.0:${ports.peer}`,
      `--listen-client-urls=http://0.0.0.0:${ports.client}`,
      `--advertise-client-urls=http://${dnsNameOf(cluster, name)}:${ports.client}`,
      `--initial-cluster=${members}`,
      '--initial-cluster-state=$(ETCD_STATE)',
      // The same for every member of this EtcdCluster, and for no other that was or will be.
      `--initial-cluster-token=${cluster.metadata.uid}`,
    ],
    env: [
      // Read again at each start of the container: a seed that was sealed does not start as new a second time.
      {
        name: 'ETCD_STATE',
        valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${initialStateAnnotation}']` } },
      },
      ...(policy.etcdEnv ?? []),
    ],
    ports: [
      { name: 'client', containerPort: ports.client, protocol: 'TCP' },
      { name: 'peer', containerPort: ports.peer, protocol: 'TCP' },
    ],
    volumeMounts: [{ name: 'etcd-data', mountPath: '/var/etcd' }],
    ...(policy.resources && { resources: policy.resources }),
    readinessProbe: {
      httpGet: { path: '/health', port: ports.client },
      periodSeconds: 1,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    // Not /health: a member without quorum is not helped by a restart.
    livenessProbe: {
      httpGet: { path: '/version', port: ports.client },
      initialDelaySeconds: 60,
      periodSeconds: 60,
      timeoutSeconds: 10,
      failureThreshold: 3,
    },
  };
}

function affinityOf(cluster: EtcdCluster): Pick<PodSpec, 'affinity'> {
  const { affinity, antiAffinity } = cluster.spec.pod ?? {};
  if (affinity !== undefined) return { affinity };
  if (antiAffinity !== true) return {};
  const labelSelector = { matchLabels: memberLabels(cluster.metadata.name ?? '') };
  const term = { labelSelector, topologyKey: 'kubernetes.io/hostname' };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

/** Deleted with the EtcdCluster by the garbage collector; nobody else's of the same name is taken for ours. */
function ownedMetadata(cluster: EtcdCluster, name: string): ObjectMeta {
  const { metadata } = cluster;
  return {
    name,
    ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
    labels: memberLabels(metadata.name ?? ''),
    ownerReferences: [
      {
        apiVersion: apiVersionOf(etcdClusters),
        kind: etcdClusters.kind,
        name: metadata.name ?? '',
        uid: metadata.uid ?? '',
        controller: true,
        blockOwnerDeletion: true,
      },
    ],
  };
}
