import type { Container, EndpointPort, Pod, Service, ServicePort } from '@castellan/machinery';
import { hasEnded } from '../workloads/pod-state.js';

/** One pod as a service sees it: what endpoints and endpoint slices are both made from. */
export interface ServicePod {
  readonly pod: Pod;
  readonly addresses: readonly string[];
  readonly ports: readonly EndpointPort[];
  readonly isReady: boolean;
  readonly isTerminating: boolean;
  /** Its own name in a headless service: `hostname`, when `subdomain` is the service's name. */
  readonly hostname: string | undefined;
}

/** The selector of a service whose endpoints are ours to keep; `undefined` when someone else keeps them. */
export function selectorOf(service: Service): Readonly<Record<string, string>> | undefined {
  const selector = service.spec?.selector;
  if (selector === undefined || Object.keys(selector).length === 0 || service.spec?.type === 'ExternalName')
    return undefined;
  return selector;
}

export function isSelected(selector: Readonly<Record<string, string>>, pod: Pod): boolean {
  const labels = pod.metadata.labels ?? {};
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

/** The selected pods that have an address and have not finished, in the order of their names. */
export function servicePods(service: Service, pods: readonly Pod[]): readonly ServicePod[] {
  const selector = selectorOf(service);
  if (selector === undefined) return [];
  return pods
    .filter((pod) => isSelected(selector, pod))
    .map((pod) => servicePod(service, pod))
    .filter((seen) => seen.addresses.length > 0 && !hasEnded(seen.pod))
    .sort((a, b) => compare(a.pod.metadata.name, b.pod.metadata.name));
}

function servicePod(service: Service, pod: Pod): ServicePod {
  const { spec, status } = pod;
  const addresses = status?.podIPs?.flatMap(({ ip }) => (ip === undefined ? [] : [ip])) ?? [];
  return {
    pod,
    addresses: addresses.length > 0 || status?.podIP === undefined ? addresses : [status.podIP],
    ports: (service.spec?.ports ?? []).flatMap((port) => endpointPort(port, pod)),
    isReady: status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
    isTerminating: pod.metadata.deletionTimestamp !== undefined,
    hostname: spec?.subdomain === service.metadata.name ? spec?.hostname : undefined,
  };
}

/** A port of the service at this pod; none when it is named and no container of the pod has that name. */
function endpointPort(port: ServicePort, pod: Pod): readonly EndpointPort[] {
  const protocol = port.protocol ?? 'TCP';
  const number =
    typeof port.targetPort === 'string' ? namedPort(port.targetPort, protocol, pod) : port.targetPort || port.port;
  if (number === undefined) return [];
  const appProtocol = port.appProtocol === undefined ? {} : { appProtocol: port.appProtocol };
  return [{ name: port.name ?? '', port: number, protocol, ...appProtocol }];
}

function namedPort(name: string, protocol: string, pod: Pod): number | undefined {
  const sidecars = pod.spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always') ?? [];
  const containers: readonly Container[] = [...(pod.spec?.containers ?? []), ...sidecars];
  return containers
    .flatMap((container) => container.ports ?? [])
    .find((port) => port.name === name && (port.protocol ?? 'TCP') === protocol)?.containerPort;
}

function compare(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
