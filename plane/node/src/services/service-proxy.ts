import type { Log } from '@castellan/runtime';
import type { Backend, ServiceBackends } from './service-backends.js';
import { TcpProxy } from './tcp-proxy.js';

interface Listener {
  readonly proxy: TcpProxy;
  readonly namespace: string;
}

/** Per port of a service; beyond it the kernel's queue makes clients wait. */
const connectionLimit = 1_024;
/** The services of no namespace have it. */
const ofNoService = '';

/**
 * Listens on service addresses and forwards to ready endpoints, from the plane's own process. The plane's network has a
 * local route for the whole service range, so no address has to be added for a service; TCP only.
 */
export class ServiceProxy {
  readonly #log: Log;
  readonly #apiServer: Backend;
  readonly #listeners = new Map<string, Listener>();

  /** `apiServer`: where the service `kubernetes` leads, which has no pods. */
  constructor(log: Log, apiServer: { readonly host: string; readonly port: number }) {
    this.#log = log;
    this.#apiServer = { address: apiServer.host, port: apiServer.port, hostname: undefined };
  }

  /** Makes the API server reachable at an address of the machine too, under its own port; whether that could be done. */
  async openApiServer(address: string): Promise<boolean> {
    const at = { address, port: this.#apiServer.port };
    const proxy = await this.#listen(at, [this.#apiServer]);
    if (proxy !== undefined) this.#listeners.set(`${at.address}:${at.port}`, { proxy, namespace: ofNoService });
    return proxy !== undefined;
  }

  /** Opens, changes and closes what is needed for the services of one namespace. */
  async apply(namespace: string, services: readonly ServiceBackends[]): Promise<void> {
    const wanted = new Map<
      string,
      { readonly address: string; readonly port: number; readonly backends: readonly Backend[] }
    >();
    for (const service of services) {
      for (const { port, protocol, backends } of service.ports) {
        if (service.clusterIp === undefined || protocol !== 'TCP') continue;
        const address = service.clusterIp;
        wanted.set(`${address}:${port}`, {
          address,
          port,
          backends: this.#isApiServer(service) ? [this.#apiServer] : backends,
        });
      }
    }
    for (const [key, listener] of this.#listeners) {
      if (listener.namespace !== namespace || wanted.has(key)) continue;
      this.#listeners.delete(key);
      await listener.proxy.close();
    }
    for (const [key, { backends, ...at }] of wanted) {
      const known = this.#listeners.get(key);
      if (known !== undefined) {
        known.proxy.setBackends(backends);
        continue;
      }
      const proxy = await this.#listen(at, backends);
      if (proxy !== undefined) this.#listeners.set(key, { proxy, namespace });
    }
  }

  async close(): Promise<void> {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    await Promise.all(listeners.map(({ proxy }) => proxy.close()));
  }

  async #listen(
    at: { readonly address: string; readonly port: number },
    backends: readonly Backend[],
  ): Promise<TcpProxy | undefined> {
    try {
      return await TcpProxy.listen({ ...at, connectionLimit }, backends);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#log.warn('a service address cannot be listened on', {
        address: `${at.address}:${at.port}`,
        error: message,
      });
      return undefined;
    }
  }

  #isApiServer(service: ServiceBackends): boolean {
    return service.namespace === 'default' && service.name === 'kubernetes';
  }
}
