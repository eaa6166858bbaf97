import type { Pod } from '@castellan/machinery';
import { type Frontend, loopback, type NodeAddress } from './frontend.js';
import type { Backend } from './service-backends.js';

/** A port of a container that is reached at its node's address too. */
export interface HostPort {
  readonly pod: string;
  readonly node: string;
  /** As the pod says; empty: every address that a node has. */
  readonly hostIp: string;
  readonly protocol: string;
  readonly port: number;
  readonly backend: Backend;
}

/** Of a pod that has an address and has not ended, ready or not. */
export function hostPorts({ metadata, spec, status }: Pod): readonly HostPort[] {
  const { podIP: address, phase } = status ?? {};
  const node = spec?.nodeName;
  if (address === undefined || node === undefined || phase === 'Succeeded' || phase === 'Failed') return [];
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  const isEnding = metadata.deletionTimestamp !== undefined;
  return ports.flatMap(({ hostPort = 0, hostIP = '', containerPort, protocol = 'TCP' }) => {
    if (hostPort === 0) return [];
    const backend = { address, port: containerPort, hostname: undefined, node, isEnding };
    const hostIp = hostIP === '0.0.0.0' || hostIP === '::' ? '' : hostIP;
    return [{ pod: metadata.name ?? '', node, hostIp, protocol, port: hostPort, backend }];
  });
}

/**
 * Where host ports are: on the address of the pod's node, and on loopback, which the nodes of a machine share. An address that is neither is
 * no node's, and has none.
 */
export function hostPortFrontends(ports: readonly HostPort[], nodes: readonly NodeAddress[]): readonly Frontend[] {
  return ports.flatMap(({ pod, node, hostIp, protocol, port, backend }) =>
    [...nodes.filter(({ name }) => name === node).map(({ address }) => address), loopback]
      .filter((address) => hostIp === '' || hostIp === address)
      .map((address) => ({
        ...{ of: { kind: 'Pod', name: pod } as const, protocol, address, port, backends: [backend] },
        ...{ affinityMs: undefined, staysOnNode: false },
      })),
  );
}
