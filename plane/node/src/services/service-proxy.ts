import { networkInterfaces } from 'node:os';
import type { Log } from '@castellan/runtime';
import type { Clock } from '@castellan/world';
import { filterBridge } from '../nftables/bridge-filter.js';
import { NftTable, removeNftTables, tablesOf } from '../nftables/nft-table.js';
import { type AddressRange, isInRange } from '../sandbox/address-range.js';
import { DatagramZones } from './datagram-zones.js';
import { type Frontend, type NodeAddress, serviceFrontends } from './frontend.js';
import { type HostPort, hostPortFrontends } from './host-ports.js';
import type { Backend, ServiceBackends } from './service-backends.js';
import { type ListenProblem, ServiceListeners } from './service-listeners.js';
import { serviceRules, serviceTableBase } from './service-rules.js';

export interface ServiceProxyOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Where the service `kubernetes` leads, which has no pods. */
  readonly apiServer: { readonly host: string; readonly port: number };
}

interface ProxiedNode extends NodeAddress {
  /** Of its pods: tells which node a client is on. */
  readonly podRange: AddressRange;
}

export interface ProxiedNetwork {
  readonly bridge: string;
  readonly gateway: string;
  readonly podRange: AddressRange;
  /** Under whose addresses node ports are reached, besides loopback. */
  readonly nodes: readonly ProxiedNode[];
}

/** `nftables`: by the kernel, where it can; `user-space`: by this process. */
export type ServiceProxyMode = 'nftables' | 'user-space';

/** What is to lead to the pods of a namespace. */
export interface NamespaceTraffic {
  readonly services: readonly ServiceBackends[];
  readonly hostPorts: readonly HostPort[];
}

/** An address that cannot be had. */
export interface FrontendProblem extends ListenProblem {
  readonly namespace: string;
}

/** Frontends of no namespace. */
const ofPlane = 'plane';
const nameServerPort = 53;

/**
 * Makes services reachable at their addresses, for this machine's programs and pods only: nothing listens on any other interface,
 * and nothing is forwarded to an address that is not the machine's own or a pod's.
 *
 * Where the kernel can, it exchanges the addresses of connections between pods (`service-rules.ts`). This process forwards what
 * it cannot: node ports on loopback, the API server, and all of it on other machines.
 */
export class ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #apiServer: Backend;
  readonly #listeners: ServiceListeners;
  readonly #zones: DatagramZones;
  /** What the kernel forwards, by namespace. */
  readonly #forwarded = new Map<string, readonly Frontend[]>();
  /** Addresses of backends that get new connections and are not ending, by namespace. */
  readonly #served = new Map<string, ReadonlySet<string>>();
  #network: ProxiedNetwork | undefined;
  #table: NftTable | undefined;

  constructor(options: ServiceProxyOptions) {
    const { log, clock, apiServer } = options;
    this.#options = options;
    this.#apiServer = {
      address: apiServer.host,
      port: apiServer.port,
      hostname: undefined,
      node: undefined,
      isEnding: false,
    };
    this.#listeners = new ServiceListeners(log, clock, (client) => this.#nodeOf(client));
    this.#zones = new DatagramZones(clock.now());
  }

  /** Before the first `apply`; tells how services are forwarded from now on. */
  async start(network: ProxiedNetwork, preferred: ServiceProxyMode = 'nftables'): Promise<ServiceProxyMode> {
    this.#network = network;
    const { log, clock } = this.#options;
    const { bridge } = network;
    if (preferred === 'user-space') {
      await removeNftTables(bridge);
      return preferred;
    }
    try {
      // Its table first: it holds back what the bridge is not to forward.
      const name = tablesOf(bridge).services;
      this.#table = await NftTable.open({ name, base: serviceTableBase(name, network), log, clock });
      await filterBridge(bridge);
      return 'nftables';
    } catch (error) {
      this.#table = undefined;
      await removeNftTables(bridge);
      const why = error instanceof Error ? error.message : String(error);
      log.info('services are forwarded by this process: the kernel cannot', { why });
      return 'user-space';
    }
  }

  /** Makes the API server reachable at an address of the machine too, under its own port; whether that could be done. */
  async openApiServer(address: string): Promise<boolean> {
    const { port } = this.#apiServer;
    const of = { kind: 'Service', name: 'kubernetes' } as const;
    const frontend = { of, protocol: 'TCP', address, port, backends: [this.#apiServer] };
    await this.#listeners.apply(ofPlane, [{ ...frontend, affinityMs: undefined, staysOnNode: false }]);
    return this.#listeners.has(frontend);
  }

  /**
   * All services and host ports of each of these namespaces; in the first call, of all that there are. Resolves when they are in force, with
   * those that are not, where that is new.
   */
  async apply(namespaces: ReadonlyMap<string, NamespaceTraffic>): Promise<readonly FrontendProblem[]> {
    if (this.#network === undefined) return [];
    const { nodes, podRange } = this.#network;
    // Asked for when there is a service without selector only: a machine with many pods has many interfaces.
    let own: ReadonlySet<string> | undefined;
    const isOwn = (address: string) => {
      own ??= ownAddresses();
      return own.has(address);
    };
    const isNear = ({ address }: Backend) => isInRange(address, podRange) || isOwn(address);
    const listened = new Map<string, readonly Frontend[]>();
    for (const [namespace, traffic] of namespaces) {
      const frontends = [
        ...traffic.services.flatMap((service) =>
          serviceFrontends(service, nodes).map((frontend) => this.#withBackends(service, frontend, isNear)),
        ),
        ...hostPortFrontends(traffic.hostPorts, nodes),
      ];
      const isForwarded = (frontend: Frontend) => this.#table !== undefined && this.#isForKernel(frontend);
      this.#forwarded.set(namespace, frontends.filter(isForwarded));
      listened.set(
        namespace,
        frontends.filter((frontend) => !isForwarded(frontend)),
      );
    }
    const forwarded = [...this.#forwarded.values()].flat();
    const isInForce = this.#table?.replace(serviceRules(forwarded, { zones: this.#zones.next(forwarded), nodes }));
    const problems: FrontendProblem[] = [];
    for (const [namespace, frontends] of listened) {
      const found = await this.#listeners.apply(`services/${namespace}`, frontends);
      problems.push(...found.map((problem) => ({ ...problem, namespace })));
    }
    await isInForce;
    for (const [namespace, { services }] of namespaces) this.#served.set(namespace, servedAddresses(services));
    return problems;
  }

  /** Whether a port that is to lead to this namespace is another program's as yet: `apply` tries again. */
  isWaiting(namespace: string): boolean {
    return this.#listeners.isWaiting(`services/${namespace}`);
  }

  /** Whether a pod still gets new connections as if it were not ending: its programs are better told a moment later. */
  serves(namespace: string, address: string): boolean {
    return this.#served.get(namespace)?.has(address) === true;
  }

  async close(): Promise<void> {
    await this.#table?.close();
    await this.#listeners.close();
  }

  #nodeOf(client: string): string | undefined {
    const { gateway, nodes = [] } = this.#network ?? {};
    return client === gateway
      ? undefined
      : nodes.find(({ address, podRange }) => client !== address && isInRange(client, podRange))?.name;
  }

  #withBackends(service: ServiceBackends, frontend: Frontend, isNear: (backend: Backend) => boolean): Frontend {
    const isApiServer = service.namespace === 'default' && service.name === 'kubernetes';
    if (isApiServer) return { ...frontend, backends: [this.#apiServer] };
    return service.selectsPods ? frontend : { ...frontend, backends: frontend.backends.filter(isNear) };
  }

  /** Where pods reach the name server and the API server: no pod's host port takes their place. There listening fails, and is told. */
  #isOwnPort({ address, port }: Pick<Frontend, 'address' | 'port'>): boolean {
    return address === this.#network?.gateway && (port === nameServerPort || port === this.#apiServer.port);
  }

  /** Loopback is each network's own: the kernel takes nothing from one to another. Nor does the bridge to other networks. */
  #isForKernel({ address, port, backends }: Frontend): boolean {
    const network = this.#network;
    if (network === undefined || address.startsWith('127.') || this.#isOwnPort({ address, port })) return false;
    return backends.every(
      (backend) => backend.address === network.gateway || isInRange(backend.address, network.podRange),
    );
  }
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)));
}

function servedAddresses(services: readonly ServiceBackends[]): ReadonlySet<string> {
  const backends = services.flatMap(({ ports }) => ports.flatMap((port) => port.backends));
  return new Set(backends.filter(({ isEnding }) => !isEnding).map(({ address }) => address));
}
