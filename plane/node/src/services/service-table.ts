import type { ServiceBackends } from './service-backends.js';

/** Every service and where it leads, as last seen. DNS answers and the proxy forwards from it. */
export class ServiceTable {
  readonly #namespaces = new Map<string, ReadonlyMap<string, ServiceBackends>>();

  /** All services of a namespace at once. */
  replace(namespace: string, services: readonly ServiceBackends[]): void {
    if (services.length === 0) this.#namespaces.delete(namespace);
    else this.#namespaces.set(namespace, new Map(services.map((service) => [service.name, service])));
  }

  find(namespace: string, name: string): ServiceBackends | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  hasNamespace(namespace: string): boolean {
    return this.#namespaces.has(namespace);
  }

  inNamespace(namespace: string): readonly ServiceBackends[] {
    return [...(this.#namespaces.get(namespace)?.values() ?? [])];
  }

  all(): readonly ServiceBackends[] {
    return [...this.#namespaces.values()].flatMap((services) => [...services.values()]);
  }
}
