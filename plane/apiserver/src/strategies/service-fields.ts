import { type ApiObject, at, count, type JsonRecord, list, record, records, text } from '../json.js';

/** What the rules of services ask of a service. */
export interface ServiceFields {
  readonly spec: JsonRecord;
  readonly type: string;
  readonly clusterIP: string;
  readonly clusterIPs: readonly string[];
  readonly ipFamilies: readonly string[];
  readonly ipFamilyPolicy: string | undefined;
  readonly ports: readonly JsonRecord[];
  readonly isHeadless: boolean;
  readonly hasSelector: boolean;
  readonly needsAddress: boolean;
  /** Its ports may be open at every node. */
  readonly mayHaveNodePorts: boolean;
  /** Each of its ports gets a port of the nodes. */
  readonly wantsNodePorts: boolean;
  readonly needsHealthCheckPort: boolean;
  /** 0: none. */
  readonly healthCheckNodePort: number;
  readonly isReachedFromOutside: boolean;
}

export const headless = 'None';

export function serviceFields(service: ApiObject): ServiceFields {
  const spec = record(service.spec);
  const type = text(spec.type) ?? '';
  const clusterIP = text(spec.clusterIP) ?? '';
  const isBalanced = type === 'LoadBalancer';
  return {
    spec,
    type,
    clusterIP,
    clusterIPs: list(spec.clusterIPs).map(String),
    ipFamilies: list(spec.ipFamilies).map(String),
    ipFamilyPolicy: text(spec.ipFamilyPolicy),
    ports: records(spec.ports),
    isHeadless: clusterIP === headless,
    hasSelector: Object.keys(record(spec.selector)).length > 0,
    needsAddress: type !== 'ExternalName',
    mayHaveNodePorts: type === 'NodePort' || isBalanced,
    wantsNodePorts: type === 'NodePort' || (isBalanced && spec.allocateLoadBalancerNodePorts === true),
    needsHealthCheckPort: isBalanced && spec.externalTrafficPolicy === 'Local',
    healthCheckNodePort: count(spec.healthCheckNodePort) ?? 0,
    isReachedFromOutside:
      type === 'NodePort' || isBalanced || (type === 'ClusterIP' && list(spec.externalIPs).length > 0),
  };
}

/** 0: none. */
export function nodePortOf(port: JsonRecord): number {
  return count(port.nodePort) ?? 0;
}

/** `namespace/name` */
export function ownerOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

/** Every port of the nodes that a service has, each once. */
export function nodePortsOf(service: ApiObject): readonly number[] {
  const { ports, healthCheckNodePort } = serviceFields(service);
  return [...new Set([...ports.map(nodePortOf), healthCheckNodePort])].filter((port) => port > 0);
}

/** The address of a service, where it has one. */
export function addressOfService(service: ApiObject): string | undefined {
  const address = text(at(service, 'spec', 'clusterIP')) ?? '';
  return address === '' || address === headless ? undefined : address;
}
