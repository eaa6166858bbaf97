import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import type { Endpoint, EndpointPort, EndpointSlice, Service } from '@castellan/machinery';
import { type ServicePod, servicePods } from './service-pods.js';

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
/** Upstream's name for the same work: clients that look for its slices find ours. */
export const sliceManager = 'endpointslice-controller.k8s.io';
export const headlessLabel = 'service.kubernetes.io/headless';

const endpointsPerSlice = 100;

export interface SliceChanges {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
}

/**
 * What has to change in a service's endpoint slices. An endpoint stays in the slice that it is in, so that a pod that
 * comes or goes changes one slice; slices of one address family and one list of ports are filled to 100 endpoints.
 * `existing` are the slices with this service's name that `sliceManager` keeps.
 */
export function planSlices(
  service: Service,
  pods: Parameters<typeof servicePods>[1],
  existing: readonly EndpointSlice[],
): SliceChanges {
  const usable = existing.filter((slice) => isUsable(slice, service));
  const drafts = addressFamilies(service).flatMap((family) =>
    draftsFor(family, service, servicePods(service, pods), usable),
  );
  const kept = new Set(drafts.map(({ slice }) => slice));
  const names = new Set(existing.map(({ metadata }) => metadata.name));
  return {
    create: drafts
      .filter(({ slice }) => slice === undefined)
      .map((draft) => {
        const name = freeName(service, draft.addressType, names);
        names.add(name);
        return { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', ...contentOf(draft, service, { name }) };
      }),
    update: drafts.flatMap((draft) => {
      if (draft.slice === undefined) return [];
      const wanted = { ...draft.slice, ...contentOf(draft, service, draft.slice.metadata) };
      return isDeepStrictEqual(comparable(wanted), comparable(draft.slice)) ? [] : [wanted];
    }),
    delete: existing.filter((slice) => !kept.has(slice) && slice.metadata.deletionTimestamp === undefined),
  };
}

/** A slice as it is to be; `slice` is the existing one that becomes it. */
interface SliceDraft {
  readonly addressType: AddressFamily;
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Endpoint[];
  slice: EndpointSlice | undefined;
}

type AddressFamily = 'IPv4' | 'IPv6';

function draftsFor(
  addressType: AddressFamily,
  service: Service,
  pods: readonly ServicePod[],
  existing: readonly EndpointSlice[],
): readonly SliceDraft[] {
  const ofFamily = existing.filter((slice) => slice.addressType === addressType);
  const drafts: SliceDraft[] = [];
  for (const group of groupByPorts(addressType, service, pods)) {
    const matching = ofFamily.filter((slice) => isDeepStrictEqual(portsOf(slice), group.ports));
    drafts.push(...place(addressType, group, matching).filter(({ endpoints }) => endpoints.length > 0));
  }
  // Clients take "a slice without endpoints" as an answer and "no slice" as "not known yet".
  if (drafts.length === 0) drafts.push({ addressType, ports: [], endpoints: [], slice: undefined });

  const kept = new Set(drafts.map(({ slice }) => slice));
  const reusable = ofFamily.filter((slice) => !kept.has(slice));
  for (const draft of drafts) draft.slice ??= reusable.shift();
  return drafts;
}

interface PortGroup {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: readonly Endpoint[];
}

function groupByPorts(addressType: AddressFamily, service: Service, pods: readonly ServicePod[]): readonly PortGroup[] {
  const groups = new Map<string, { ports: readonly EndpointPort[]; endpoints: Endpoint[] }>();
  for (const pod of pods) {
    const address = pod.addresses.find((ip) => isIPv6(ip) === (addressType === 'IPv6'));
    if (address === undefined) continue;
    const fingerprint = JSON.stringify(pod.ports);
    const group = groups.get(fingerprint) ?? { ports: pod.ports, endpoints: [] };
    groups.set(fingerprint, group);
    group.endpoints.push(endpointOf(service, pod, address));
  }
  return [...groups.values()];
}

function endpointOf(
  service: Service,
  { pod, isReady, isTerminating, hostname }: ServicePod,
  address: string,
): Endpoint {
  return {
    addresses: [address],
    conditions: {
      ready: service.spec?.publishNotReadyAddresses === true || (isReady && !isTerminating),
      serving: isReady,
      terminating: isTerminating,
    },
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

/** Spreads a group over the slices it has, keeping each endpoint where it is, and over new ones for what is left. */
function place(addressType: AddressFamily, group: PortGroup, slices: readonly EndpointSlice[]): readonly SliceDraft[] {
  const waiting = new Map(group.endpoints.map((endpoint) => [identity(endpoint), endpoint]));
  const drafts: SliceDraft[] = slices.map((slice) => ({ addressType, ports: group.ports, endpoints: [], slice }));
  for (const draft of drafts) {
    for (const before of draft.slice?.endpoints ?? []) {
      const now = waiting.get(identity(before));
      if (now === undefined || draft.endpoints.length === endpointsPerSlice) continue;
      draft.endpoints.push(now);
      waiting.delete(identity(before));
    }
  }
  const rest = [...waiting.values()];
  for (const draft of drafts) draft.endpoints.push(...rest.splice(0, endpointsPerSlice - draft.endpoints.length));
  while (rest.length > 0) {
    drafts.push({ addressType, ports: group.ports, endpoints: rest.splice(0, endpointsPerSlice), slice: undefined });
  }
  return drafts;
}

function identity(endpoint: Endpoint): string {
  return endpoint.targetRef?.uid ?? endpoint.addresses.join();
}

/** A slice of an earlier service of the same name is not reused: the garbage collector is about to delete it. */
function isUsable(slice: EndpointSlice, service: Service): boolean {
  const isOurs = slice.metadata.ownerReferences?.some(({ uid }) => uid === service.metadata.uid) ?? false;
  return isOurs && slice.metadata.deletionTimestamp === undefined;
}

function addressFamilies(service: Service): readonly AddressFamily[] {
  const families = service.spec?.ipFamilies?.filter((family) => family === 'IPv4' || family === 'IPv6') ?? [];
  return families.length === 0 ? ['IPv4'] : families;
}

function contentOf(draft: SliceDraft, service: Service, metadata: EndpointSlice['metadata']) {
  const { namespace, name = '', uid = '' } = service.metadata;
  return {
    metadata: {
      ...metadata,
      ...(namespace === undefined ? {} : { namespace }),
      labels: {
        ...service.metadata.labels,
        ...(service.spec?.clusterIP === 'None' ? { [headlessLabel]: '' } : {}),
        [serviceNameLabel]: name,
        [managedByLabel]: sliceManager,
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType: draft.addressType,
    endpoints: draft.endpoints,
    ports: draft.ports,
  };
}

/** What we answer for in a slice; the API server may leave an empty list out. */
function comparable(slice: EndpointSlice) {
  const { labels, ownerReferences } = slice.metadata;
  return { labels, ownerReferences, endpoints: slice.endpoints ?? [], ports: portsOf(slice) };
}

function portsOf(slice: EndpointSlice): readonly EndpointPort[] {
  return slice.ports ?? [];
}

/**
 * The same for the same service, family and number of slices: a creation that is repeated because its first reply or
 * its watch event is late cannot make a second slice.
 */
function freeName(service: Service, addressType: AddressFamily, taken: ReadonlySet<string | undefined>): string {
  for (let ordinal = 0; ; ordinal++) {
    const digest = createHash('sha256').update(`${service.metadata.uid}/${addressType}/${ordinal}`).digest('hex');
    const name = `${service.metadata.name}-${digest.slice(0, 5)}`;
    if (!taken.has(name)) return name;
  }
}
