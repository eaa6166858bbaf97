import { endpointSlices, type Pod, pods, services } from '@castellan/machinery';
import { type Controller, watchSource } from '@castellan/runtime';
import { serviceBackends } from './service-backends.js';
import type { ServiceProxy } from './service-proxy.js';
import type { ServiceTable } from './service-table.js';

/** One key stands for all services of a namespace: a pod does not say which of them select it. */
const everyService = '*';

/** Keeps the table of services, and with it DNS and the proxy, as the API server has it. */
export function serviceController(table: ServiceTable, proxy: ServiceProxy): Controller {
  const ofNamespace = ({ metadata }: { readonly metadata: Pod['metadata'] }) => [
    { namespace: metadata.namespace ?? '', name: everyService },
  ];
  return {
    name: 'node-services',
    for: services,
    watches: [
      watchSource({ type: services, map: ofNamespace }),
      watchSource({ type: pods, map: ofNamespace }),
      watchSource({ type: endpointSlices, map: ofNamespace }),
    ],
    concurrency: 4,
    async reconcile(key, { cache }) {
      // Of a service itself we hear by its namespace's key too.
      if (key.name !== everyService || key.namespace === undefined) return undefined;
      const { namespace } = key;
      const podsThere = cache.list(pods, { namespace });
      const slices = cache.list(endpointSlices, { namespace });
      const backends = cache
        .list(services, { namespace })
        .map((service) => serviceBackends(service, podsThere, slices));
      table.replace(namespace, backends);
      await proxy.apply(namespace, backends);
      return undefined;
    },
  };
}
