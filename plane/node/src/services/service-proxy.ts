import { networkInterfaces } from 'node:os';
import type { Log } from '@castellan/runtime';
import type { Clock } from '@castellan/world';
import { type AddressRange, isInRange } from '../sandbox/address-range.js';
import { type Frontend, serviceFrontends } from './frontend.js';
import type { Backend, ServiceBackends } from './service-backends.js';
import { ServiceListeners } from './service-listeners.js';

export interface ServiceProxyOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Where the service `kubernetes` leads, which has no pods. */
  readonly apiServer: { readonly host: string; readonly port: number };
}

export interface ProxiedNetwork {
  readonly podRange: AddressRange;
  /** Under which node ports are reached, besides loopback. */
  readonly nodeAddresses: readonly string[];
}

/** Frontends of no namespace. */
const ofPlane = 'plane';

/**
 * Makes services reachable at their addresses, for this machine's programs and pods only: nothing listens on any other interface,
 * and nothing is forwarded to an address that is not the machine's own or a pod's.
 */
export class ServiceProxy {
  readonly #apiServer: Backend;
  readonly #listeners: ServiceListeners;
  #network: ProxiedNetwork | undefined;

  constructor({ log, clock, apiServer }: ServiceProxyOptions) {
    this.#apiServer = { address: apiServer.host, port: apiServer.port, hostname: undefined, node: undefined };
    this.#listeners = new ServiceListeners(log, clock);
  }

  /** Before the first `apply`. */
  use(network: ProxiedNetwork): void {
    this.#network = network;
  }

  /** Makes the API server reachable at an address of the machine too, under its own port; whether that could be done. */
  async openApiServer(address: string): Promise<boolean> {
    const { port } = this.#apiServer;
    const frontend = { protocol: 'TCP', address, port, backends: [this.#apiServer] };
    await this.#listeners.apply(ofPlane, [{ ...frontend, affinityMs: undefined, staysOnNode: false }]);
    return this.#listeners.has(frontend);
  }

  /** All services of one namespace at once. */
  async apply(namespace: string, services: readonly ServiceBackends[]): Promise<void> {
    if (this.#network === undefined) return;
    const { nodeAddresses, podRange } = this.#network;
    const own = ownAddresses();
    const isNear = ({ address }: Backend) => own.has(address) || isInRange(address, podRange);
    const frontends = services.flatMap((service) =>
      serviceFrontends(service, nodeAddresses).map((frontend) => this.#withBackends(service, frontend, isNear)),
    );
    await this.#listeners.apply(`services/${namespace}`, frontends);
  }

  async close(): Promise<void> {
    await this.#listeners.close();
  }

  #withBackends(service: ServiceBackends, frontend: Frontend, isNear: (backend: Backend) => boolean): Frontend {
    const isApiServer = service.namespace === 'default' && service.name === 'kubernetes';
    if (isApiServer) return { ...frontend, backends: [this.#apiServer] };
    return service.selectsPods ? frontend : { ...frontend, backends: frontend.backends.filter(isNear) };
  }
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)));
}
