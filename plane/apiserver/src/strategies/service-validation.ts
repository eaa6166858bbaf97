import {
  deepEqual,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  isIpAddress,
  labelErrors,
  qualifiedNameErrors,
  ShownValue,
} from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records, text } from '../json.js';
import { badIpAddress } from '../pods/scalar-rules.js';
import { cidrText, parseCidr } from './cidr.js';
import { familyErrors } from './ip-families.js';
import { portReferenceErrors } from './port-names.js';
import { nodePortOf, type ServiceFields, serviceFields } from './service-fields.js';
import { specialAddressErrors } from './special-addresses.js';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const affinities = ['ClientIP', 'None'];
const trafficPolicies = ['Cluster', 'Local'];
const distributions = ['PreferClose', 'PreferSameNode', 'PreferSameZone'];
const maxPort = 65_535;
/** A day. */
const longestAffinitySeconds = 86_400;
const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";
const rangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';

/** The rules of services, in the order of kube-apiserver's ValidateService. */
export function serviceErrors(service: ApiObject): readonly FieldError[] {
  const fields = serviceFields(service);
  const { spec, type, ports } = fields;
  return [
    ...(ports.length === 0 && !fields.isHeadless && type !== 'ExternalName' ? [fieldError.required('spec.ports')] : []),
    ...typeErrors(fields),
    ...ports.flatMap((port, index) => portErrors(port, index, ports)),
    ...labelErrors(record(spec.selector), 'spec.selector'),
    ...affinityErrors(spec),
    ...familyErrors(fields),
    ...externalAddressErrors(list(spec.externalIPs)),
    ...(types.includes(type) ? [] : [fieldError.notSupported('spec.type', type, types)]),
    ...nodePortErrors(fields),
    ...duplicatePortErrors(ports),
    ...sourceRangeErrors(service, fields),
    ...balancerErrors(fields),
    ...trafficErrors(fields),
  ];
}

function typeErrors({ spec, type, isHeadless, clusterIPs, ipFamilies, ipFamilyPolicy }: ServiceFields) {
  if (isHeadless && (type === 'LoadBalancer' || type === 'NodePort')) {
    return [fieldError.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`)];
  }
  if (type !== 'ExternalName') return [];
  const unset = 'may not be set for ExternalName services';
  const name = (text(spec.externalName) ?? '').replace(/\.$/, '');
  return [
    ...(clusterIPs.length > 0 ? [fieldError.forbidden('spec.clusterIPs', unset)] : []),
    ...(ipFamilies.length > 0 ? [fieldError.forbidden('spec.ipFamilies', unset)] : []),
    ...(ipFamilyPolicy === undefined ? [] : [fieldError.forbidden('spec.ipFamilyPolicy', unset)]),
    ...(name === ''
      ? [fieldError.required('spec.externalName')]
      : dns1123SubdomainErrors(name).map((problem) => fieldError.invalid('spec.externalName', name, problem))),
  ];
}

function portErrors(
  { name, port, protocol, targetPort, appProtocol }: JsonRecord,
  index: number,
  ports: readonly JsonRecord[],
): readonly FieldError[] {
  const path = `spec.ports[${index}]`;
  const isPort = typeof port === 'number' && port >= 1 && port <= maxPort;
  const own = text(name) ?? '';
  const isDuplicate = own !== '' && ports.findIndex((other) => other.name === own) < index;
  return [
    ...(own === '' && ports.length > 1 ? [fieldError.required(`${path}.name`)] : []),
    ...(own === '' ? [] : dns1123LabelErrors(own).map((text) => fieldError.invalid(`${path}.name`, own, text))),
    ...(isDuplicate ? [fieldError.duplicate(`${path}.name`, own)] : []),
    ...(isPort ? [] : [fieldError.invalid(`${path}.port`, port ?? 0, `must be between 1 and ${maxPort}, inclusive`)]),
    ...(protocols.includes(String(protocol)) ? [] : [fieldError.notSupported(`${path}.protocol`, protocol, protocols)]),
    ...portReferenceErrors(targetPort, `${path}.targetPort`),
    ...(typeof appProtocol === 'string'
      ? qualifiedNameErrors(appProtocol).map((text) => fieldError.invalid(`${path}.appProtocol`, appProtocol, text))
      : []),
  ];
}

function affinityErrors({ sessionAffinity, sessionAffinityConfig }: JsonRecord): readonly FieldError[] {
  if (!affinities.includes(String(sessionAffinity))) {
    return [fieldError.notSupported('spec.sessionAffinity', sessionAffinity, affinities)];
  }
  const path = 'spec.sessionAffinityConfig';
  if (sessionAffinity === 'None') {
    if (sessionAffinityConfig === undefined) return [];
    return [fieldError.forbidden(path, 'must not be set when session affinity is None')];
  }
  const clientIP = at(sessionAffinityConfig, 'clientIP');
  if (clientIP === undefined)
    return [fieldError.required(`${path}.clientIP`, 'when session affinity type is ClientIP')];
  const seconds = count(at(clientIP, 'timeoutSeconds')) ?? 0;
  if (seconds > 0 && seconds <= longestAffinitySeconds) return [];
  const problem = `must be greater than 0 and less than ${longestAffinitySeconds}`;
  return [fieldError.invalid(`${path}.clientIP.timeoutSeconds`, seconds, problem)];
}

/** Addresses at which clients reach a service: not those of the machine itself, of its link, or of groups. */
function externalAddressErrors(addresses: readonly unknown[]): readonly FieldError[] {
  return addresses.flatMap((address, index) => {
    const path = `spec.externalIPs[${index}]`;
    const shown = String(address);
    const malformed = badIpAddress(shown, path);
    return malformed.length > 0 ? malformed : specialAddressErrors(shown, path);
  });
}

function nodePortErrors({ type, ports }: ServiceFields): readonly FieldError[] {
  if (type !== 'ClusterIP') return [];
  return ports.flatMap((port, index) =>
    nodePortOf(port) === 0
      ? []
      : [fieldError.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")],
  );
}

function duplicatePortErrors(ports: readonly JsonRecord[]): readonly FieldError[] {
  const isTaken = (index: number, isEqual: (other: JsonRecord) => boolean) => ports.findIndex(isEqual) < index;
  return [
    ...ports.flatMap((port, index) => {
      const own = nodePortOf(port);
      const isSame = (other: JsonRecord) => nodePortOf(other) === own && other.protocol === port.protocol;
      if (own === 0 || !isTaken(index, isSame)) return [];
      return [fieldError.duplicate(`spec.ports[${index}].nodePort`, own)];
    }),
    ...ports.flatMap(({ port, protocol }, index) =>
      isTaken(index, (other) => other.port === port && other.protocol === protocol)
        ? [fieldError.duplicate(`spec.ports[${index}]`, portKey(protocol, port))]
        : [],
    ),
  ];
}

/** What upstream compares ports by. */
function portKey(protocol: unknown, port: unknown): ShownValue {
  return new ShownValue({
    Name: '',
    Protocol: protocol,
    AppProtocol: null,
    Port: port,
    TargetPort: 0,
    NodePort: 0,
  });
}

function sourceRangeErrors({ metadata }: ApiObject, { spec, type }: ServiceFields): readonly FieldError[] {
  const ranges = list(spec.loadBalancerSourceRanges).map(String);
  const annotation = metadata.annotations?.[rangesAnnotation];
  if (ranges.length === 0 && annotation === undefined) return [];
  const path = ranges.length > 0 ? 'spec.LoadBalancerSourceRanges' : `metadata.annotations[${rangesAnnotation}]`;
  const named =
    ranges.length > 0
      ? ranges
      : (annotation ?? '')
          .trim()
          .split(',')
          .filter((range) => range !== '');
  return [
    ...(type === 'LoadBalancer' ? [] : [fieldError.forbidden(path, onlyBalanced)]),
    ...named.flatMap((range, index) =>
      parseCidr(range.trim()) !== undefined
        ? []
        : [fieldError.invalid(ranges.length > 0 ? `${path}[${index}]` : path, range.trim(), cidrText)],
    ),
  ];
}

function balancerErrors({ spec, type }: ServiceFields): readonly FieldError[] {
  const isBalanced = type === 'LoadBalancer';
  const { allocateLoadBalancerNodePorts: allocates, loadBalancerClass } = spec;
  const className = text(loadBalancerClass);
  return [
    ...(allocates !== undefined && !isBalanced
      ? [fieldError.forbidden('spec.allocateLoadBalancerNodePorts', onlyBalanced)]
      : []),
    ...(className !== undefined && !isBalanced ? [fieldError.forbidden('spec.loadBalancerClass', onlyBalanced)] : []),
    ...(className !== undefined && isBalanced
      ? qualifiedNameErrors(className).map((problem) =>
          fieldError.invalid('spec.loadBalancerClass', className, problem),
        )
      : []),
  ];
}

function trafficErrors(fields: ServiceFields): readonly FieldError[] {
  const { spec, type, healthCheckNodePort: port } = fields;
  const { externalTrafficPolicy: external, internalTrafficPolicy: internal, trafficDistribution: spread } = spec;
  const onlyLocal = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
  const [outside, health] = ['spec.externalTrafficPolicy', 'spec.healthCheckNodePort'];
  return [
    ...(external !== undefined && !fields.isReachedFromOutside
      ? [fieldError.invalid(outside, external, 'may only be set for externally-accessible services')]
      : []),
    ...(external === undefined && fields.isReachedFromOutside ? [fieldError.required(outside)] : []),
    ...(external !== undefined && fields.isReachedFromOutside ? oneOf(outside, external, trafficPolicies) : []),
    ...(port !== 0 && !fields.needsHealthCheckPort ? [fieldError.invalid(health, port, onlyLocal)] : []),
    ...(port === 0 && fields.needsHealthCheckPort ? [fieldError.required(health)] : []),
    ...(internal === undefined && type !== 'ExternalName' && types.includes(type)
      ? [fieldError.required('spec.internalTrafficPolicy')]
      : []),
    ...(internal === undefined ? [] : oneOf('spec.internalTrafficPolicy', internal, trafficPolicies)),
    ...(spread === undefined ? [] : oneOf('spec.trafficDistribution', spread, distributions)),
  ];
}

function oneOf(path: string, value: unknown, supported: readonly string[]): readonly FieldError[] {
  return supported.includes(String(value)) ? [] : [fieldError.notSupported(path, value, supported)];
}

/** What a service may not change. */
export function serviceUpdateErrors(service: ApiObject, current: ApiObject): readonly FieldError[] {
  const [fields, old] = [serviceFields(service), serviceFields(current)];
  const [className, oldClass] = [fields.spec.loadBalancerClass, old.spec.loadBalancerClass];
  const isBalanced = fields.type === 'LoadBalancer' && old.type === 'LoadBalancer';
  const isChecked = fields.needsHealthCheckPort && old.needsHealthCheckPort;
  return [
    ...addressChangeErrors(fields, old),
    ...familyChangeErrors(fields, old),
    ...(isBalanced && !deepEqual(className, oldClass)
      ? [fieldError.invalid('spec.loadBalancerClass', className ?? null, 'may not change once set')]
      : []),
    ...(isChecked && fields.healthCheckNodePort !== old.healthCheckNodePort
      ? [fieldError.forbidden('spec.healthCheckNodePort', 'field is immutable')]
      : []),
  ];
}

function addressChangeErrors(fields: ServiceFields, old: ServiceFields): readonly FieldError[] {
  if (!fields.needsAddress || !old.needsAddress || (fields.isHeadless && old.isHeadless)) return [];
  const { clusterIPs: addresses } = fields;
  const problem = (index: number, text: string) => fieldError.invalid(`spec.clusterIPs[${index}]`, addresses, text);
  if (addresses.length === 0 && old.clusterIPs.length > 0) return [problem(0, 'primary clusterIP can not be unset')];
  const compared = addresses.length === old.clusterIPs.length ? addresses.length : 1;
  return old.clusterIPs
    .slice(0, compared)
    .flatMap((address, index) => (address === addresses[index] ? [] : [problem(index, 'may not change once set')]));
}

function familyChangeErrors(fields: ServiceFields, old: ServiceFields): readonly FieldError[] {
  if (!fields.needsAddress || !old.needsAddress || fields.isHeadless || old.isHeadless) return [];
  const { ipFamilies: families } = fields;
  const compared = families.length === old.ipFamilies.length ? families.length : 1;
  return old.ipFamilies
    .slice(0, compared)
    .flatMap((family, index) =>
      family === families[index] ? [] : [fieldError.invalid('spec.ipFamilies[0]', families, 'may not change once set')],
    );
}

/** What a load balancer may say of itself. */
export function serviceStatusErrors(service: ApiObject): readonly FieldError[] {
  const ingress = records(at(service, 'status', 'loadBalancer', 'ingress'));
  const path = 'status.loadBalancer.ingress';
  if (ingress.length > 0 && serviceFields(service).type !== 'LoadBalancer') {
    return [fieldError.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")];
  }
  return ingress.flatMap(({ ip, ipMode, hostname }, index) => {
    const where = `${path}[${index}]`;
    const [address, host] = [text(ip) ?? '', text(hostname) ?? ''];
    return [
      ...(address === '' ? [] : badIpAddress(address, `${where}.ip`)),
      ...(ipMode !== undefined && address === ''
        ? [fieldError.forbidden(`${where}.ipMode`, 'may not be specified when `ip` is not set')]
        : []),
      ...(ipMode !== undefined && address !== '' ? oneOf(`${where}.ipMode`, ipMode, ['Proxy', 'VIP']) : []),
      ...(host === ''
        ? []
        : dns1123SubdomainErrors(host).map((problem) => fieldError.invalid(`${where}.hostname`, host, problem))),
      ...(isIpAddress(host)
        ? [fieldError.invalid(`${where}.hostname`, host, 'must be a DNS name, not an IP address')]
        : []),
    ];
  });
}
