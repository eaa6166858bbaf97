import {
  dns1035LabelErrors,
  type FieldError,
  fieldError,
  invalidError,
  isIpv4,
  qualifiedNameErrors,
} from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records, text, without } from '../json.js';
import type { Strategy, WriteContext } from '../registry/strategy.js';
import { portReferenceErrors } from './port-names.js';
import type { ServiceAddresses } from './service-addresses.js';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const headless = 'None';
const serviceKind = { group: '', kind: 'Service' } as const;
const maxPort = 65_535;
const protocols = ['SCTP', 'TCP', 'UDP'];
const affinities = ['ClientIP', 'None'];
const stickySeconds = 10_800;

/** Services: defaults, rules, and an address for each that wants one. */
export function serviceStrategy(
  addresses: ServiceAddresses,
  addressOfService: (owner: string) => Promise<string | undefined>,
): Strategy {
  const hold = async (service: ApiObject, context: WriteContext): Promise<ApiObject> => {
    const spec = record(service.spec);
    const wanted = text(spec.clusterIP) ?? '';
    if (spec.type === 'ExternalName') return service;
    const families = { ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack', ...spec };
    if (wanted === headless) return { ...service, spec: { ...families, clusterIPs: [headless] } };
    const address = context.isDryRun && wanted === '' ? addresses.first : await holdAddress(service, wanted, context);
    return { ...service, spec: { ...families, clusterIP: address, clusterIPs: [address] } };
  };

  const holdAddress = async (service: ApiObject, wanted: string, context: WriteContext): Promise<string> => {
    const owner = ownerOf(service);
    const refuse = (problem: string) =>
      invalidError(serviceKind, service.metadata.name ?? '', [
        fieldError.invalid('spec.clusterIPs', [wanted], problem),
      ]);
    if (wanted === '') {
      const address = await addresses.holdAny(owner, async (other, held) => (await addressOfService(other)) === held);
      if (address !== undefined) return address;
      throw refuse(`failed to allocate IP: the range ${addresses.cidr} is full`);
    }
    if (!addresses.contains(wanted)) {
      throw refuse(
        `failed to allocate IP ${wanted}: the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${addresses.cidr}`,
      );
    }
    if (context.isDryRun || (await addresses.hold(wanted, owner))) return wanted;
    throw refuse(`failed to allocate IP ${wanted}: provided IP is already allocated`);
  };

  return {
    nameProblems: dns1035LabelErrors,
    withDefaults,
    prepareForCreate: async (service, context) => hold({ ...service, status: { loadBalancer: {} } }, context),
    prepareForUpdate: (service, current, context) => {
      const kept = withoutStaleFields(withKeptAddress(service, current), current);
      return at(kept, 'spec', 'clusterIP') === at(current, 'spec', 'clusterIP') ? kept : hold(kept, context);
    },
    validate,
    validateUpdate,
    release: async (service, context) => {
      const address = text(at(service, 'spec', 'clusterIP')) ?? '';
      if (!context.isDryRun && isIpv4(address)) await addresses.release(address, ownerOf(service));
    },
  };
}

function ownerOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

function withDefaults(service: ApiObject): ApiObject {
  const spec = record(service.spec);
  const type = text(spec.type) ?? 'ClusterIP';
  const isExternalName = type === 'ExternalName';
  const ports = records(spec.ports).map((port) => ({ protocol: 'TCP', targetPort: port.port, ...port }));
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  const isSticky = spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig === undefined;
  return {
    ...service,
    spec: {
      sessionAffinity: 'None',
      ...(isExternalName ? {} : { internalTrafficPolicy: 'Cluster' }),
      ...(isExternal ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
      ...(isSticky ? { sessionAffinityConfig: { clientIP: { timeoutSeconds: stickySeconds } } } : {}),
      ...spec,
      type,
      ...(spec.ports === undefined ? {} : { ports }),
    },
  };
}

/** A client that does not speak of the address means: as it is. */
function withKeptAddress(service: ApiObject, current: ApiObject): ApiObject {
  const spec = record(service.spec);
  const old = record(current.spec);
  if (spec.type === 'ExternalName' || (text(spec.clusterIP) ?? '') !== '') return service;
  const kept: JsonRecord = { clusterIP: old.clusterIP, clusterIPs: old.clusterIPs };
  return old.clusterIP === undefined ? service : { ...service, spec: { ...spec, ...kept } };
}

/** What only the old type had, and the client sent back as it was, goes with the type. */
function withoutStaleFields(service: ApiObject, current: ApiObject): ApiObject {
  const spec = record(service.spec);
  const old = record(current.spec);
  if (spec.type === old.type) return service;
  const isExternal = spec.type === 'NodePort' || spec.type === 'LoadBalancer';
  const fields = ['allocateLoadBalancerNodePorts', ...(isExternal ? [] : ['externalTrafficPolicy'])];
  const stale = fields.filter((field) => spec[field] === old[field] && spec.type !== 'LoadBalancer');
  const nodePorts = records(old.ports).map(({ nodePort }) => nodePort);
  const ports = records(spec.ports).map((port) =>
    !isExternal && nodePorts.includes(port.nodePort) ? without(port, 'nodePort') : port,
  );
  return { ...service, spec: { ...without(spec, ...stale), ...(spec.ports === undefined ? {} : { ports }) } };
}

function validate(service: ApiObject): readonly FieldError[] {
  const spec = record(service.spec);
  const type = text(spec.type) ?? '';
  const clusterIP = text(spec.clusterIP) ?? '';
  const ports = records(spec.ports);
  const isNamed = ports.length > 1;
  const mayLackPorts = clusterIP === headless || type === 'ExternalName';
  return [
    ...(ports.length === 0 && !mayLackPorts ? [fieldError.required('spec.ports')] : []),
    ...ports.flatMap((port, index) => portErrors(port, index, { ports, isNamed })),
    ...Object.keys(record(spec.selector)).flatMap((key) =>
      qualifiedNameErrors(key).map((problem) => fieldError.invalid('spec.selector', key, problem)),
    ),
    ...(affinities.includes(String(spec.sessionAffinity))
      ? []
      : [fieldError.notSupported('spec.sessionAffinity', spec.sessionAffinity, affinities)]),
    ...(types.includes(type) ? [] : [fieldError.notSupported('spec.type', type, types)]),
    ...(spec.externalTrafficPolicy !== undefined && type !== 'NodePort' && type !== 'LoadBalancer'
      ? [
          fieldError.invalid(
            'spec.externalTrafficPolicy',
            spec.externalTrafficPolicy,
            'may only be set for externally-accessible services',
          ),
        ]
      : []),
    ...(clusterIP === headless && (type === 'NodePort' || type === 'LoadBalancer')
      ? [fieldError.invalid('spec.clusterIPs[0]', clusterIP, `may not be set to 'None' for ${type} services`)]
      : []),
    ...ports.flatMap(({ nodePort }, index) =>
      nodePort !== undefined && type === 'ClusterIP'
        ? [fieldError.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'")]
        : [],
    ),
    ...(clusterIP === '' || clusterIP === headless || isIpv4(clusterIP)
      ? []
      : [
          fieldError.invalid(
            'spec.clusterIPs[0]',
            clusterIP,
            'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
          ),
        ]),
    ...(type === 'ExternalName' && (text(spec.externalName) ?? '') === ''
      ? [fieldError.required('spec.externalName')]
      : []),
  ];
}

function portErrors(
  { name, port, protocol, targetPort }: JsonRecord,
  index: number,
  { ports, isNamed }: { readonly ports: readonly JsonRecord[]; readonly isNamed: boolean },
): readonly FieldError[] {
  const path = `spec.ports[${index}]`;
  const isPort = typeof port === 'number' && port >= 1 && port <= maxPort;
  const isDuplicate = name !== undefined && ports.findIndex((other) => other.name === name) < index;
  return [
    ...(isNamed && (text(name) ?? '') === '' ? [fieldError.required(`${path}.name`)] : []),
    ...(isDuplicate ? [fieldError.duplicate(`${path}.name`, name)] : []),
    ...(isPort ? [] : [fieldError.invalid(`${path}.port`, port ?? 0, `must be between 1 and ${maxPort}, inclusive`)]),
    ...(protocols.includes(String(protocol)) ? [] : [fieldError.notSupported(`${path}.protocol`, protocol, protocols)]),
    ...(targetPort === undefined && isPort ? [] : portReferenceErrors(targetPort, `${path}.targetPort`)),
  ];
}

function validateUpdate(service: ApiObject, current: ApiObject): readonly FieldError[] {
  const [address, old] = [at(service, 'spec', 'clusterIP'), text(at(current, 'spec', 'clusterIP')) ?? ''];
  if (old === '' || address === old || at(service, 'spec', 'type') === 'ExternalName') return [];
  return [fieldError.invalid('spec.clusterIPs[0]', address, 'may not change once set')];
}
