import { readFileSync } from 'node:fs';
import type { Pod } from '@castellan/machinery';
import { resolverFile } from '../dns/resolver-file.js';
import type { LayerFile } from '../sandbox/root-file-system.js';

export interface PodFilesOptions {
  readonly clusterDomain: string;
  /** Where cluster DNS listens. */
  readonly nameServer: string;
  readonly podIp: string;
}

const hostnameLimit = 63;

/** As the container's kernel will have it: `spec.hostname`, else the pod's name. */
export function podHostname(pod: Pod): string {
  return (pod.spec?.hostname ?? pod.metadata.name ?? '').slice(0, hostnameLimit);
}

/** /etc/hosts, /etc/hostname and /etc/resolv.conf of a pod's containers. */
export function podFiles(pod: Pod, options: PodFilesOptions): readonly LayerFile[] {
  return [
    { path: '/etc/hostname', content: `${podHostname(pod)}\n` },
    { path: '/etc/hosts', content: hostsFile(pod, options) },
    {
      path: '/etc/resolv.conf',
      content: resolverFile(pod, { ...options, machineFile: readFileSync('/etc/resolv.conf', 'utf8') }),
    },
  ];
}

function hostsFile(pod: Pod, { clusterDomain, podIp }: PodFilesOptions): string {
  const hostname = podHostname(pod);
  const { subdomain, hostAliases = [] } = pod.spec ?? {};
  const fullName =
    subdomain === undefined ? [] : [`${hostname}.${subdomain}.${pod.metadata.namespace}.svc.${clusterDomain}`];
  return [
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    [podIp, ...fullName, hostname].join('\t'),
    ...hostAliases.map(({ ip, hostnames = [] }) => [ip, ...hostnames].join('\t')),
    '',
  ].join('\n');
}
