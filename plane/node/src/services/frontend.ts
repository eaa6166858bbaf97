import type { Backend, ServiceBackends } from './service-backends.js';

/** One address, protocol and port that lead to backends. */
export interface Frontend {
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  readonly backends: readonly Backend[];
  /** As in `ServiceBackends`. */
  readonly affinityMs: number | undefined;
  readonly staysOnNode: boolean;
}

/** Of the machine: reached from its own programs alone. */
const loopback = '127.0.0.1';

/** `tcp/10.96.0.10/80`: the same for two frontends that cannot both be there. */
export function frontendKey({ protocol, address, port }: Pick<Frontend, 'protocol' | 'address' | 'port'>): string {
  return `${protocol.toLowerCase()}/${address}/${port}`;
}

/**
 * A service's cluster address, and its node ports on the nodes' addresses and on loopback. Every node is on this machine, so
 * `externalTrafficPolicy: Local` changes nothing: no traffic to a node port leaves the machine's nodes, and each sees its client.
 */
export function serviceFrontends(service: ServiceBackends, nodeAddresses: readonly string[]): readonly Frontend[] {
  const { affinityMs, staysOnNode, clusterIp } = service;
  if (clusterIp === undefined) return [];
  return service.ports.flatMap(({ protocol, port, nodePort, backends }) => {
    const common = { protocol, backends, affinityMs };
    const inside: Frontend = { ...common, address: clusterIp, port, staysOnNode };
    if (nodePort === undefined) return [inside];
    return [
      inside,
      ...[...nodeAddresses, loopback].map((address) => ({ ...common, address, port: nodePort, staysOnNode: false })),
    ];
  });
}
