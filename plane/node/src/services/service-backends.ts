import type { EndpointSlice, Pod, Service, ServicePort } from '@castellan/machinery';

/** Where a service's traffic goes to, and the names that its endpoints have. */
export interface ServiceBackends {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` for headless services and those with an external name. */
  readonly clusterIp: string | undefined;
  readonly externalName: string | undefined;
  readonly ports: readonly BackendPort[];
}

export interface BackendPort {
  readonly name: string | undefined;
  readonly protocol: string;
  readonly port: number;
  readonly backends: readonly Backend[];
}

export interface Backend {
  readonly address: string;
  readonly port: number;
  /** Of the pod, when it has one within this service. */
  readonly hostname: string | undefined;
}

/**
 * Straight from the pods when the service selects them: a record is there as soon as a pod has its address, without
 * the detour over the endpoints controller. Services without a selector have their endpoints from EndpointSlices.
 */
export function serviceBackends(
  service: Service,
  pods: readonly Pod[],
  slices: readonly EndpointSlice[],
): ServiceBackends {
  const { spec = {}, metadata } = service;
  const { namespace = '', name = '' } = metadata;
  const isHeadless = spec.clusterIP === 'None';
  const chosen = spec.selector === undefined ? [] : selectedPods(service, pods);
  const ports = (spec.ports ?? []).map((port) => ({
    name: port.name,
    protocol: port.protocol ?? 'TCP',
    port: port.port,
    backends:
      spec.selector === undefined
        ? sliceBackends(service, port, slices)
        : chosen.map((pod) => ({
            address: pod.status?.podIP ?? '',
            port: targetPort(port, pod),
            hostname: pod.spec?.subdomain === name ? (pod.spec.hostname ?? undefined) : undefined,
          })),
  }));
  return {
    namespace,
    name,
    clusterIp: isHeadless || spec.clusterIP === undefined || spec.clusterIP === '' ? undefined : spec.clusterIP,
    externalName: spec.type === 'ExternalName' ? spec.externalName : undefined,
    // A headless service may have no port; its endpoints have addresses all the same.
    ports:
      ports.length > 0 || !isHeadless
        ? ports
        : [{ name: undefined, protocol: 'TCP', port: 0, backends: portless(service, chosen, slices) }],
  };
}

function selectedPods(service: Service, pods: readonly Pod[]): readonly Pod[] {
  const selector = Object.entries(service.spec?.selector ?? {});
  const takesUnready = service.spec?.publishNotReadyAddresses === true;
  return pods.filter(({ metadata, status }) => {
    if (metadata.namespace !== service.metadata.namespace) return false;
    if (!selector.every(([key, value]) => metadata.labels?.[key] === value)) return false;
    if (status?.podIP === undefined || status.phase === 'Succeeded' || status.phase === 'Failed') return false;
    if (takesUnready) return true;
    const isReady = status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
    return isReady && metadata.deletionTimestamp === undefined;
  });
}

function portless(service: Service, chosen: readonly Pod[], slices: readonly EndpointSlice[]): readonly Backend[] {
  const name = service.metadata.name;
  if (service.spec?.selector === undefined) return sliceBackends(service, { port: 0 }, slices);
  return chosen.map((pod) => ({
    address: pod.status?.podIP ?? '',
    port: 0,
    hostname: pod.spec?.subdomain === name ? (pod.spec?.hostname ?? undefined) : undefined,
  }));
}

function sliceBackends(service: Service, port: ServicePort, slices: readonly EndpointSlice[]): readonly Backend[] {
  const own = slices.filter(
    ({ metadata }) =>
      metadata.namespace === service.metadata.namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name,
  );
  return own.flatMap((slice) => {
    const match = slice.ports?.find(({ name }) => (name ?? '') === (port.name ?? ''));
    const number = match?.port ?? (typeof port.targetPort === 'number' ? port.targetPort : port.port);
    return slice.endpoints
      .filter(({ conditions }) => conditions?.ready !== false || service.spec?.publishNotReadyAddresses === true)
      .flatMap(({ addresses, hostname }) => addresses.map((address) => ({ address, port: number, hostname })));
  });
}

/** A number, the name of a port of the pod's containers, or the service's own port. */
function targetPort(port: ServicePort, pod: Pod): number {
  const target = port.targetPort;
  if (typeof target === 'number') return target;
  if (target === undefined || target === '') return port.port;
  const named = (pod.spec?.containers ?? []).flatMap(({ ports = [] }) => ports).find(({ name }) => name === target);
  return named?.containerPort ?? (Number(target) || port.port);
}
