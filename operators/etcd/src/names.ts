import { createHash } from 'node:crypto';
import type { EtcdCluster } from './api/etcd-cluster.js';

export const ports = { client: 2379, peer: 2380 } as const;

/** On each pod; what `--initial-cluster-state` is to be when its container next starts. */
export const initialStateAnnotation = 'etcd.database.coreos.com/initial-cluster-state';

/** On each pod: the version that was asked for when it was made. */
export const versionAnnotation = 'etcd.version';

export function memberLabels(clusterName: string): Readonly<Record<string, string>> {
  return { app: 'etcd', etcd_cluster: clusterName };
}

export function clientServiceName(clusterName: string): string {
  return `${clusterName}-client`;
}

/**
 * Made from the EtcdCluster's uid and nothing else, so that an operator that does not know of its own first try makes
 * the same seed again, which the API server refuses.
 */
export function seedNameOf(cluster: EtcdCluster): string {
  const digest = createHash('sha256').update(`seed of ${cluster.metadata.uid}`).digest();
  const suffix = Array.from(digest.subarray(0, 10), (byte) => nameAlphabet[byte % nameAlphabet.length]).join('');
  return `${cluster.metadata.name}-${suffix}`;
}

/** As Kubernetes makes random names: no vowels, so no words. */
const nameAlphabet = 'bcdfghjklmnpqrstvwxz2456789';

export function dnsNameOf(cluster: EtcdCluster, podName: string): string {
  const { name, namespace } = cluster.metadata;
  return `${podName}.${name}.${namespace}.svc${cluster.spec.pod?.ClusterDomain ?? ''}`;
}

export function peerUrlOf(cluster: EtcdCluster, podName: string): string {
  return `http://${dnsNameOf(cluster, podName)}:${ports.peer}`;
}

/** The inverse of `peerUrlOf`: the pod's name is the first label of the host. */
export function podNameOf(peerUrl: string): string {
  return URL.canParse(peerUrl) ? (new URL(peerUrl).hostname.split('.')[0] ?? peerUrl) : peerUrl;
}
