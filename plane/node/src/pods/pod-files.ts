import { readFileSync } from 'node:fs';
import type { Pod } from '@castellan/machinery';
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
    { path: '/etc/resolv.conf', content: resolverFile(pod, options) },
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

function resolverFile(pod: Pod, { clusterDomain, nameServer }: PodFilesOptions): string {
  const { dnsPolicy = 'ClusterFirst', dnsConfig = {} } = pod.spec ?? {};
  if (dnsPolicy === 'Default') return readFileSync('/etc/resolv.conf', 'utf8');
  const isCluster = dnsPolicy !== 'None';
  const service = `svc.${clusterDomain}`;
  const clusterSearches = [`${pod.metadata.namespace}.${service}`, service, clusterDomain];
  const options = new Map<string, string | undefined>(isCluster ? [['ndots', '5']] : []);
  for (const { name = '', value } of dnsConfig.options ?? []) options.set(name, value);
  const searches = [...(isCluster ? clusterSearches : []), ...(dnsConfig.searches ?? [])];
  return [
    ...(searches.length === 0 ? [] : [`search ${searches.join(' ')}`]),
    ...[...(isCluster ? [nameServer] : []), ...(dnsConfig.nameservers ?? [])].map((server) => `nameserver ${server}`),
    ...(options.size === 0
      ? []
      : [
          `options ${[...options].map(([name, value]) => (value === undefined ? name : `${name}:${value}`)).join(' ')}`,
        ]),
    '',
  ].join('\n');
}
