import type { Backend, ServiceBackends } from './service-backends.js';

/** One address, protocol and port that lead to backends. */
export interface Frontend {
  /** The object of its namespace that asks for it. */
  readonly of: { readonly kind: 'Service' | 'Pod'; readonly name: string };
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
  readonly backends: readonly Backend[];
  /** As in `ServiceBackends`. */
  readonly affinityMs: number | undefined;
  readonly staysOnNode: boolean;
}

/** One of the machine's nodes, as its pods' addresses tell it. */
export interface NodeAddress {
  readonly name: string;
  readonly address: string;
}

/** Of the machine: reached from its own programs alone. */
export const loopback = '127.0.0.1';

/** `tcp/10.96.0.10/80`: the same for two frontends that cannot both be there. */
export function frontendKey({ protocol, address, port }: Pick<Frontend, 'protocol' | 'address' | 'port'>): string {
  return `${protocol.toLowerCase()}/${address}/${port}`;
}

/**
 * A service's cluster address, and its node ports on the nodes' addresses and on loopback. With `externalTrafficPolicy: Local` a
 * node's address leads to its own pods; loopback is no node's, and leads to all.
 */
export function serviceFrontends(service: ServiceBackends, nodes: readonly NodeAddress[]): readonly Frontend[] {
  const { affinityMs, staysOnNode, clusterIp } = service;
  if (clusterIp === undefined) return [];
  return service.ports.flatMap(({ protocol, port, nodePort, backends }) => {
    const common = { of: { kind: 'Service', name: service.name }, protocol, affinityMs } as const;
    const inside: Frontend = { ...common, address: clusterIp, port, backends, staysOnNode };
    if (nodePort === undefined) return [inside];
    const atNodes = nodes.map(({ name, address }) => {
      const own = service.entersOwnNode ? backends.filter(({ node }) => node === name) : backends;
      return { ...common, address, port: nodePort, backends: own, staysOnNode: false };
    });
    return [inside, ...atNodes, { ...common, address: loopback, port: nodePort, backends, staysOnNode: false }];
  });
}
