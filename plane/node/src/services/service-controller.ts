import { endpointSlices, type Pod, pods, type Service, services } from '@castellan/machinery';
import { type Controller, type EventRecorder, type Reader, watchSource } from '@castellan/runtime';
import { hostPorts } from './host-ports.js';
import { serviceBackends } from './service-backends.js';
import type { FrontendProblem, NamespaceTraffic, ServiceProxy } from './service-proxy.js';
import type { ServiceTable } from './service-table.js';

/** One key stands for all services of a namespace: a pod does not say which of them select it. */
const everyService = '*';

const portRetryMs = 10_000;

/** Keeps the table of services, and with it DNS and the proxy, as the API server has it. */
export function serviceController(table: ServiceTable, proxy: ServiceProxy): Controller {
  const ofNamespace = ({ metadata }: { readonly metadata: Pod['metadata'] }) => [
    { namespace: metadata.namespace ?? '', name: everyService },
  ];
  let isFirst = true;
  return {
    name: 'node-services',
    for: services,
    watches: [
      watchSource({ type: services, map: ofNamespace }),
      watchSource({ type: pods, map: ofNamespace }),
      watchSource({ type: endpointSlices, map: ofNamespace }),
    ],
    concurrency: 4,
    async reconcile(key, { cache, events }) {
      if (key.namespace === undefined) return undefined;
      if (key.name !== everyService) {
        const service = cache.get(services, key);
        if (service !== undefined) noteWhatIsIgnored(service, events);
        return undefined;
      }
      // The proxy replaces what an earlier agent left by what it is told first: by everything.
      const all = isFirst ? cache.list(services).flatMap(({ metadata }) => metadata.namespace ?? []) : [];
      isFirst = false;
      const changed = new Map([...all, key.namespace].map((namespace) => [namespace, trafficOf(namespace, cache)]));
      for (const [namespace, traffic] of changed) table.replace(namespace, traffic.services);
      for (const problem of await proxy.apply(changed)) noteProblem(problem, cache, events);
      return proxy.isWaiting(key.namespace) ? { requeueAfterMs: portRetryMs } : undefined;
    },
  };
}

function trafficOf(namespace: string, cache: Reader): NamespaceTraffic {
  const podsThere = cache.list(pods, { namespace });
  const slices = cache.list(endpointSlices, { namespace });
  return {
    services: cache.list(services, { namespace }).map((service) => serviceBackends(service, podsThere, slices)),
    hostPorts: podsThere.flatMap(hostPorts),
  };
}

function noteProblem({ frontend, namespace, message }: FrontendProblem, cache: Reader, events: EventRecorder): void {
  const { of, protocol, address, port } = frontend;
  const object =
    of.kind === 'Pod'
      ? cache.get(pods, { namespace, name: of.name })
      : cache.get(services, { namespace, name: of.name });
  if (object === undefined) return;
  events.record(object, {
    type: 'Warning',
    reason: 'PortNotAvailable',
    message: `${protocol} port ${port} of ${address} cannot be had: ${message}; next: see who has it (ss -lnp sport = :${port}), or take another`,
  });
}

function noteWhatIsIgnored(service: Service, events: EventRecorder): void {
  const addresses = service.spec?.externalIPs ?? [];
  if (addresses.length === 0) return;
  events.record(service, {
    type: 'Warning',
    reason: 'ExternalIPsIgnored',
    message: `no traffic to ${addresses.join(', ')} is taken: this plane answers at cluster addresses, and at node ports on loopback; next: reach the service by one of those`,
  });
}
