import type { EndpointSlice, Pod, Service, ServicePort } from '@castellan/machinery';

/** Where a service's traffic goes to, and the names that its endpoints have. */
export interface ServiceBackends {
  readonly namespace: string;
  readonly name: string;
  /** `undefined` for headless services and those with an external name. */
  readonly clusterIp: string | undefined;
  readonly externalName: string | undefined;
  /** How long a client stays with its backend after its last connection; `undefined` without session affinity. */
  readonly affinityMs: number | undefined;
  /** Its endpoints are pods that it selects, and not what somebody wrote into EndpointSlices. */
  readonly selectsPods: boolean;
  /** Pods get to backends on their own node alone (`internalTrafficPolicy: Local`). */
  readonly staysOnNode: boolean;
  /** A node's port leads to backends on that node alone (`externalTrafficPolicy: Local`). */
  readonly entersOwnNode: boolean;
  readonly ports: readonly BackendPort[];
}

export interface BackendPort {
  readonly name: string | undefined;
  readonly protocol: string;
  readonly port: number;
  /** Of types NodePort and LoadBalancer. */
  readonly nodePort: number | undefined;
  readonly backends: readonly Backend[];
}

export interface Backend {
  readonly address: string;
  readonly port: number;
  /** Of the pod, when it has one within this service. */
  readonly hostname: string | undefined;
  readonly node: string | undefined;
  /** It is being deleted. */
  readonly isEnding: boolean;
}

/** A backend and whether it may be used: kube-proxy's conditions of endpoints. */
interface Candidate extends Backend {
  readonly isReady: boolean;
  /** Though it may be ending, it would answer. */
  readonly isServing: boolean;
}

const defaultAffinitySeconds = 10_800;

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
  const isExternalName = spec.type === 'ExternalName';
  const chosen = spec.selector === undefined ? [] : selectedPods(service, pods);
  const ofPort = (port: ServicePort) => {
    const candidates =
      spec.selector === undefined
        ? sliceCandidates(service, port, slices)
        : chosen.map((pod) => podCandidate(service, port, pod));
    return {
      name: port.name,
      protocol: port.protocol ?? 'TCP',
      port: port.port,
      nodePort: port.nodePort === 0 ? undefined : port.nodePort,
      backends: usable(candidates, { isHeadless }),
    };
  };
  // A headless service may have no port; its endpoints have addresses all the same.
  const ports = isHeadless && (spec.ports ?? []).length === 0 ? [{ port: 0 }] : (spec.ports ?? []);
  return {
    namespace,
    name,
    clusterIp: isHeadless || isExternalName || !spec.clusterIP ? undefined : spec.clusterIP,
    externalName: isExternalName ? spec.externalName : undefined,
    affinityMs:
      spec.sessionAffinity === 'ClientIP'
        ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? defaultAffinitySeconds) * 1_000
        : undefined,
    selectsPods: spec.selector !== undefined,
    staysOnNode: spec.internalTrafficPolicy === 'Local',
    entersOwnNode: spec.externalTrafficPolicy === 'Local',
    ports: ports.map(ofPort),
  };
}

/** Ready ones; when there are none, those that are ending and still serve. Names of headless services have no such rest. */
function usable(
  candidates: readonly Candidate[],
  { isHeadless }: { readonly isHeadless: boolean },
): readonly Backend[] {
  const ready = candidates.filter(({ isReady }) => isReady);
  const last = isHeadless ? [] : candidates.filter(({ isServing, isEnding }) => isServing && isEnding);
  return (ready.length > 0 ? ready : last).map(({ address, port, hostname, node, isEnding }) => ({
    ...{ address, port, hostname, node, isEnding },
  }));
}

function selectedPods(service: Service, pods: readonly Pod[]): readonly Pod[] {
  const selector = Object.entries(service.spec?.selector ?? {});
  return pods.filter(({ metadata, status }) => {
    if (metadata.namespace !== service.metadata.namespace) return false;
    if (!selector.every(([key, value]) => metadata.labels?.[key] === value)) return false;
    return status?.podIP !== undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed';
  });
}

function podCandidate(service: Service, port: ServicePort, pod: Pod): Candidate {
  const { spec, status, metadata } = pod;
  const isServing = status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') === true;
  const isEnding = metadata.deletionTimestamp !== undefined;
  return {
    address: status?.podIP ?? '',
    port: targetPort(port, pod),
    hostname: spec?.subdomain === service.metadata.name ? spec?.hostname : undefined,
    node: spec?.nodeName,
    isReady: service.spec?.publishNotReadyAddresses === true || (isServing && !isEnding),
    isServing,
    isEnding,
  };
}

function sliceCandidates(service: Service, port: ServicePort, slices: readonly EndpointSlice[]): readonly Candidate[] {
  const own = slices.filter(
    ({ metadata, addressType }) =>
      metadata.namespace === service.metadata.namespace &&
      metadata.labels?.['kubernetes.io/service-name'] === service.metadata.name &&
      addressType === 'IPv4',
  );
  return own.flatMap((slice) => {
    const match = slice.ports?.find(({ name }) => (name ?? '') === (port.name ?? ''));
    // Of a service with ports, a slice that does not have this one has no endpoint of it.
    if (match === undefined && (slice.ports ?? []).length > 0) return [];
    const number = match?.port ?? (typeof port.targetPort === 'number' ? port.targetPort : port.port);
    return (slice.endpoints ?? []).flatMap(({ addresses, hostname, nodeName, conditions = {} }) => {
      const isReady = conditions.ready !== false || service.spec?.publishNotReadyAddresses === true;
      const isServing = conditions.serving === true;
      const isEnding = conditions.terminating === true;
      return addresses.map((address) => ({
        ...{ address, port: number, hostname, node: nodeName, isReady, isServing, isEnding },
      }));
    });
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
