import { isIPv4 } from 'node:net';
import type { Backend, BackendPort, ServiceBackends } from '../services/service-backends.js';
import type { ServiceTable } from '../services/service-table.js';

/** What the cluster's zone knows under a name. Follows "Kubernetes DNS-Based Service Discovery", version 1.1.0. */
export type ZoneAnswer =
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'services'; readonly targets: readonly ServiceTarget[] }
  | { readonly kind: 'alias'; readonly target: string }
  | { readonly kind: 'pointer'; readonly target: string }
  | { readonly kind: 'text'; readonly text: string }
  /** The zone's own record, SOA. */
  | { readonly kind: 'authority' }
  /** The name is there, and has nothing of the type asked for. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'missing' }
  /** Not ours to answer. */
  | { readonly kind: 'outside' };

export interface ServiceTarget {
  readonly target: string;
  readonly port: number;
  readonly address: string;
}

/** Of Kubernetes' specification of names that this zone follows. */
const schemaVersion = '1.1.0';

/** Names and answers of one cluster domain. Pure over the table. */
export class ClusterZone {
  readonly domain: string;
  readonly #table: ServiceTable;
  readonly #isClusterAddress: (address: string) => boolean;

  constructor(domain: string, table: ServiceTable, isClusterAddress: (address: string) => boolean) {
    this.domain = domain;
    this.#table = table;
    this.#isClusterAddress = isClusterAddress;
  }

  /** Names are compared without regard to case; a dot at the end changes nothing. */
  answer(name: string, type: string): ZoneAnswer {
    const wanted = name.toLowerCase().replace(/\.$/, '');
    if (type === 'PTR' && wanted.endsWith('.in-addr.arpa')) return this.#pointer(wanted);
    if (wanted === this.domain) return { kind: type === 'SOA' ? 'authority' : 'empty' };
    if (!wanted.endsWith(`.${this.domain}`)) return { kind: 'outside' };
    const labels = wanted.slice(0, -this.domain.length - 1).split('.');
    if (labels.at(-1) === 'pod') return podAnswer(labels, type);
    if (labels.length === 1 && labels[0] === 'dns-version') {
      return type === 'TXT' ? { kind: 'text', text: schemaVersion } : { kind: 'empty' };
    }
    if (labels.at(-1) !== 'svc') return { kind: 'missing' };
    return this.#serviceAnswer(labels.slice(0, -1).reverse(), type);
  }

  /** `path` from the outside in: namespace, service, then a host name or `_protocol`, `_port`. */
  #serviceAnswer(path: readonly string[], type: string): ZoneAnswer {
    const [namespace, name, inner, innermost, ...rest] = path;
    if (namespace === undefined) return { kind: 'empty' };
    if (name === undefined) return { kind: this.#table.hasNamespace(namespace) ? 'empty' : 'missing' };
    const service = this.#table.find(namespace, name);
    if (service === undefined || rest.length > 0) return { kind: 'missing' };
    if (service.externalName !== undefined) {
      return inner === undefined ? { kind: 'alias', target: service.externalName } : { kind: 'missing' };
    }
    if (inner === undefined) return ofType(type, addressesOf(service), () => this.#targets(service, service.ports));
    if (inner.startsWith('_')) {
      const ports = service.ports.filter(
        (port) =>
          `_${port.protocol.toLowerCase()}` === inner &&
          (innermost === undefined || `_${port.name ?? ''}` === innermost),
      );
      if (ports.length === 0) return { kind: 'missing' };
      return ofType(type, [], () => this.#targets(service, ports));
    }
    if (innermost !== undefined) return { kind: 'missing' };
    const named = service.ports.map((port) => ({
      ...port,
      backends: port.backends.filter((backend) => backendLabel(backend) === inner),
    }));
    const addresses = unique(named.flatMap(({ backends }) => backends.map(({ address }) => address)));
    if (service.clusterIp !== undefined || addresses.length === 0) return { kind: 'missing' };
    return ofType(type, addresses, () => this.#targets(service, named));
  }

  #targets(service: ServiceBackends, ports: readonly BackendPort[]): readonly ServiceTarget[] {
    const own = `${service.name}.${service.namespace}.svc.${this.domain}`;
    if (service.clusterIp !== undefined) {
      const address = service.clusterIp;
      return ports.map(({ port }) => ({ target: own, port, address }));
    }
    return ports.flatMap(({ backends }) =>
      backends.map((backend) => ({
        target: `${backendLabel(backend)}.${own}`,
        port: backend.port,
        address: backend.address,
      })),
    );
  }

  #pointer(name: string): ZoneAnswer {
    const address = name.slice(0, -'.in-addr.arpa'.length).split('.').reverse().join('.');
    for (const service of this.#table.all()) {
      const own = `${service.name}.${service.namespace}.svc.${this.domain}`;
      if (service.clusterIp === address) return { kind: 'pointer', target: own };
      if (service.clusterIp !== undefined) continue;
      const backend = service.ports.flatMap(({ backends }) => backends).find((other) => other.address === address);
      if (backend !== undefined) return { kind: 'pointer', target: `${backendLabel(backend)}.${own}` };
    }
    return { kind: this.#isClusterAddress(address) ? 'missing' : 'outside' };
  }
}

function addressesOf(service: ServiceBackends): readonly string[] {
  if (service.clusterIp !== undefined) return [service.clusterIp];
  return unique(service.ports.flatMap(({ backends }) => backends.map(({ address }) => address)));
}

function ofType(type: string, addresses: readonly string[], targets: () => readonly ServiceTarget[]): ZoneAnswer {
  if (type === 'A' || type === 'ANY')
    return addresses.length === 0 ? { kind: 'empty' } : { kind: 'addresses', addresses };
  if (type !== 'SRV') return { kind: 'empty' };
  const list = targets();
  return list.length === 0 ? { kind: 'empty' } : { kind: 'services', targets: list };
}

/** The host name of the pod within the service, else its address with dashes. */
function backendLabel(backend: Backend): string {
  return backend.hostname?.toLowerCase() ?? backend.address.replaceAll('.', '-');
}

/** `10-244-0-7.default.pod`: the address is in the name. */
function podAnswer(labels: readonly string[], type: string): ZoneAnswer {
  const address = (labels[0] ?? '').replaceAll('-', '.');
  if (labels.length === 3 && isIPv4(address)) return ofType(type, [address], () => []);
  return { kind: labels.length < 3 ? 'empty' : 'missing' };
}

function unique(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses)];
}
