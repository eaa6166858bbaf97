import type { ApiObject, JsonRecord } from '../json.js';

/** Where clients reach one API server. */
export interface ServerAddress {
  /** IPv4, not of loopback: Endpoints may not name that. */
  readonly address: string;
  readonly port: number;
}

export const ownNamespace = 'default';
export const ownService = 'kubernetes';
export const serviceNameLabel = 'kubernetes.io/service-name';
/** Tells controllers that mirror Endpoints into slices that these have slices of their own. */
const skipMirror = { 'endpointslice.kubernetes.io/skip-mirror': 'true' };

interface PortGroup {
  readonly port: number;
  readonly addresses: readonly string[];
}

/** The Endpoints of service default/kubernetes; a subset for each port under which servers are reached. */
export function endpointsOf(servers: readonly ServerAddress[]): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { namespace: ownNamespace, name: ownService, labels: skipMirror },
    subsets: byPort(servers).map(({ port, addresses }) => ({
      addresses: addresses.map((ip) => ({ ip })),
      ports: [portOf(port)],
    })),
  };
}

/**
 * The same as EndpointSlices. The first one has the service's name, as kube-apiserver's only one has; planes on one machine
 * have ports of their own, and a slice has one list of ports: those of further ports end in the port.
 */
export function endpointSlicesOf(servers: readonly ServerAddress[]): readonly ApiObject[] {
  return byPort(servers).map(({ port, addresses }, index) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: ownNamespace,
      name: index === 0 ? ownService : `${ownService}-${port}`,
      labels: { [serviceNameLabel]: ownService },
    },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [portOf(port)],
  }));
}

/** In an order that all servers agree on, so that none undoes what another one wrote. */
function byPort(servers: readonly ServerAddress[]): readonly PortGroup[] {
  const ports = [...new Set(servers.map(({ port }) => port))].sort((a, b) => a - b);
  return ports.map((port) => ({
    port,
    addresses: [...new Set(servers.filter((server) => server.port === port).map(({ address }) => address))].sort(),
  }));
}

function portOf(port: number): JsonRecord {
  return { name: 'https', port, protocol: 'TCP' };
}
