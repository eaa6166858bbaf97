import type { Registry } from '../registry/registry.js';
import type { ServiceAllocation } from '../strategies/service-allocation.js';

/** Brings what is held for services in line with the services that are there. */
export async function repairServices(registry: Registry, allocation: ServiceAllocation): Promise<void> {
  const { store } = registry.builtin('', 'v1', 'services');
  await store.cache.fresh();
  await allocation.repair(store.cache.list(store.layout.prefix).map(({ object }) => object));
}
