import type { Pod } from '@castellan/machinery';
import { requireCommand } from '../sandbox/command.js';
import { namespacePath } from '../sandbox/pod-network.js';
import type { PodFailure } from './pod-failure.js';

/** Those that upstream calls safe and that belong to the network alone, which the containers of a pod share. */
const offered: ReadonlySet<string> = new Set([
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);

/** Names may be written with slashes. */
function normalName(name: string): string {
  return name.replaceAll('/', '.');
}

/** A pod that asks for a sysctl that is not offered fails at once, as under kubelet. */
export function sysctlFailure({ spec }: Pod): PodFailure | undefined {
  const forbidden = spec?.securityContext?.sysctls?.find(({ name }) => !offered.has(normalName(name)));
  if (forbidden === undefined) return undefined;
  return { reason: 'SysctlForbidden', message: `forbidden sysctl: "${forbidden.name}" not allowlisted` };
}

/** Sets a pod's sysctls in its network. Others than those offered are the whole machine's, and are left alone. */
export async function setSysctls({ spec }: Pod, namespace: string): Promise<void> {
  for (const { name, value } of spec?.securityContext?.sysctls ?? []) {
    if (!offered.has(normalName(name))) continue;
    const path = `/proc/sys/${normalName(name).replaceAll('.', '/')}`;
    const write = ['/bin/sh', '-c', 'printf %s "$1" >"$2"', 'castellan-sysctl', value, path];
    await requireCommand('nsenter', [`--net=${namespacePath(namespace)}`, '--', ...write]);
  }
}
