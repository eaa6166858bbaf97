import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints, Pod, Service } from '@castellan/machinery';
import { headlessLabel } from './endpoint-slices.js';
import { type ServicePod, servicePods } from './service-pods.js';

export const endpointsManagedByLabel = 'endpoints.kubernetes.io/managed-by';
export const endpointsManager = 'endpoint-controller';

/**
 * The Endpoints object of a service, which older clients read instead of slices; `undefined` when `existing` is right.
 * A terminating pod is in it only with `publishNotReadyAddresses`.
 */
export function planEndpoints(
  service: Service,
  pods: readonly Pod[],
  existing: Endpoints | undefined,
): Endpoints | undefined {
  const { namespace, name = '' } = service.metadata;
  const wanted: Endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    ...existing,
    metadata: {
      ...existing?.metadata,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...service.metadata.labels,
        ...(service.spec?.clusterIP === 'None' ? { [headlessLabel]: '' } : {}),
        [endpointsManagedByLabel]: endpointsManager,
      },
    },
    subsets: subsetsOf(service, servicePods(service, pods)),
  };
  const isRight =
    isDeepStrictEqual(wanted.subsets, existing?.subsets ?? []) &&
    isDeepStrictEqual(wanted.metadata.labels, existing?.metadata.labels);
  return existing !== undefined && isRight ? undefined : wanted;
}

function subsetsOf(service: Service, pods: readonly ServicePod[]): readonly EndpointSubset[] {
  const publishesAll = service.spec?.publishNotReadyAddresses === true;
  const isPortless = (service.spec?.ports ?? []).length === 0;
  const wantsIpv6 = service.spec?.ipFamilies?.[0] === 'IPv6';
  const groups = new Map<
    string,
    { ports: readonly EndpointPort[]; ready: EndpointAddress[]; notReady: EndpointAddress[] }
  >();
  for (const seen of pods) {
    const ip = seen.addresses.find((address) => isIPv6(address) === wantsIpv6);
    if (ip === undefined || (seen.isTerminating && !publishesAll) || (seen.ports.length === 0 && !isPortless)) continue;
    const fingerprint = JSON.stringify(seen.ports);
    const group = groups.get(fingerprint) ?? { ports: seen.ports, ready: [], notReady: [] };
    groups.set(fingerprint, group);
    (seen.isReady || publishesAll ? group.ready : group.notReady).push(addressOf(seen, ip));
  }
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, ready, notReady }]) => ({
      ...(ready.length === 0 ? {} : { addresses: ready }),
      ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
      ...(ports.length === 0 ? {} : { ports: ports.map(withoutEmptyName) }),
    }));
}

function addressOf({ pod, hostname }: ServicePod, ip: string): EndpointAddress {
  return {
    ip,
    ...(hostname === undefined ? {} : { hostname }),
    ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: {
      kind: 'Pod',
      ...(pod.metadata.namespace === undefined ? {} : { namespace: pod.metadata.namespace }),
      name: pod.metadata.name ?? '',
      uid: pod.metadata.uid ?? '',
    },
  };
}

/** In Endpoints, unlike in slices, the only port of a service has no name at all. */
function withoutEmptyName(port: EndpointPort): { readonly port: number } & Omit<EndpointPort, 'port'> {
  const { name, port: number = 0, ...rest } = port;
  return name === undefined || name === '' ? { port: number, ...rest } : { name, port: number, ...rest };
}
