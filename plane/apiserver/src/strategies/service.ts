import { deepEqual, dns1123LabelErrors } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, record, records, without } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { withFamilies } from './ip-families.js';
import type { ServiceAllocation } from './service-allocation.js';
import { nodePortOf, serviceFields } from './service-fields.js';
import { serviceErrors, serviceStatusErrors, serviceUpdateErrors } from './service-validation.js';

/** Three hours. */
const stickySeconds = 10_800;

/** Services: defaults, rules, and an address and ports for each that wants them. */
export function serviceStrategy(allocation: ServiceAllocation): Strategy {
  return {
    nameProblems: dns1123LabelErrors,
    withDefaults,
    async prepareForCreate(service, context) {
      const settled = withFamilies(withBothAddressFields({ ...service, status: { loadBalancer: {} } }));
      const addressed = await allocation.withAddress(settled, context);
      return allocation.withHealthCheckPort(await allocation.withNewPorts(addressed, context), context);
    },
    async prepareForUpdate(service, current, context) {
      const patched = withBothAddressFields(withKeptValues(service, current), current);
      const settled = withFamilies(patched, current);
      const [fields, old] = [serviceFields(settled), serviceFields(current)];
      const addressed =
        fields.needsAddress && !old.needsAddress ? await allocation.withAddress(settled, context) : settled;
      const opened = await allocation.withChangedPorts(addressed, current, context);
      const checked = old.needsHealthCheckPort ? opened : await allocation.withHealthCheckPort(opened, context);
      return withoutStaleFields(checked, current);
    },
    validate: serviceErrors,
    validateUpdate: serviceUpdateErrors,
    validateStatus: serviceStatusErrors,
    settle: (outcome, context) => allocation.settle(outcome, context),
  };
}

function withDefaults(service: ApiObject): ApiObject {
  const spec = record(service.spec);
  const typed: ApiObject = { ...service, spec: { ...spec, type: spec.type ?? 'ClusterIP' } };
  const { type, isReachedFromOutside } = serviceFields(typed);
  const ports = records(spec.ports).map((port) => ({ protocol: 'TCP', targetPort: port.port, ...port }));
  const isSticky = spec.sessionAffinity === 'ClientIP' && record(spec.sessionAffinityConfig).clientIP === undefined;
  const stickiness = { ...record(spec.sessionAffinityConfig), clientIP: { timeoutSeconds: stickySeconds } };
  const { sessionAffinityConfig, ...others } = spec;
  const config = isSticky
    ? { sessionAffinityConfig: stickiness }
    : sessionAffinityConfig === undefined || (spec.sessionAffinity ?? 'None') === 'None'
      ? {}
      : { sessionAffinityConfig };
  return {
    ...service,
    spec: {
      sessionAffinity: 'None',
      ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
      ...(isReachedFromOutside ? { externalTrafficPolicy: 'Cluster' } : {}),
      ...(type === 'LoadBalancer' ? { allocateLoadBalancerNodePorts: true } : {}),
      ...others,
      ...config,
      type,
      ...(spec.ports === undefined ? {} : { ports }),
    },
  };
}

/** `clusterIP` and `clusterIPs` say the same: who speaks of one alone means both. */
function withBothAddressFields(service: ApiObject, current?: ApiObject): ApiObject {
  const { spec, clusterIP, clusterIPs } = serviceFields(service);
  if (current === undefined) {
    return clusterIP === '' || clusterIPs.length > 0
      ? service
      : { ...service, spec: { ...spec, clusterIPs: [clusterIP] } };
  }
  const old = serviceFields(current);
  if (clusterIP === old.clusterIP) {
    const isCleared = clusterIPs.length === 0 && old.clusterIPs.length > 0;
    return isCleared ? { ...service, spec: without(spec, 'clusterIP') } : service;
  }
  if (clusterIPs.length > 0 && !deepEqual(clusterIPs, old.clusterIPs)) return service;
  if (clusterIP === '') return { ...service, spec: without(spec, 'clusterIPs') };
  return { ...service, spec: { ...spec, clusterIPs: [clusterIP, ...clusterIPs.slice(1)] } };
}

/** A client that does not speak of what the server allocated means: as it is. */
function withKeptValues(service: ApiObject, current: ApiObject): ApiObject {
  const [fields, old] = [serviceFields(service), serviceFields(current)];
  let { spec } = fields;
  if (fields.needsAddress && old.needsAddress) {
    const clusterIP = fields.clusterIP === '' ? old.clusterIP : fields.clusterIP;
    const isSame = clusterIP === old.clusterIP && fields.clusterIPs.length === 0;
    spec = {
      ...spec,
      ...(clusterIP === '' ? {} : { clusterIP }),
      ...(isSame && old.clusterIPs.length > 0 ? { clusterIPs: old.clusterIPs } : {}),
    };
  }
  if (fields.mayHaveNodePorts && old.mayHaveNodePorts && spec.ports !== undefined) {
    spec = { ...spec, ports: withKeptPorts(fields.ports, old.ports) };
  }
  if (fields.needsHealthCheckPort && old.needsHealthCheckPort && fields.healthCheckNodePort === 0) {
    spec = { ...spec, ...(old.healthCheckNodePort === 0 ? {} : { healthCheckNodePort: old.healthCheckNodePort }) };
  }
  return { ...service, spec };
}

function withKeptPorts(ports: readonly JsonRecord[], old: readonly JsonRecord[]): readonly JsonRecord[] {
  const asked = new Set(ports.map(nodePortOf));
  return ports.map((port) => {
    const before = old.find((other) => (other.name ?? '') === (port.name ?? ''));
    const kept = before === undefined ? 0 : nodePortOf(before);
    return nodePortOf(port) !== 0 || kept === 0 || asked.has(kept) ? port : { ...port, nodePort: kept };
  });
}

/** What only the old type had, and the client sent back as it was, goes with the type. */
function withoutStaleFields(service: ApiObject, current: ApiObject): ApiObject {
  const [fields, old] = [serviceFields(service), serviceFields(current)];
  const { spec } = fields;
  const isKept = (field: string) => deepEqual(spec[field], old.spec[field]);
  const stale = (isGone: boolean, ...names: readonly string[]) => (isGone ? names.filter(isKept) : []);
  const [isBalanced, wasBalanced] = [fields.type === 'LoadBalancer', old.type === 'LoadBalancer'];
  const lostAddress = old.needsAddress && !fields.needsAddress;
  const addresses = lostAddress && isKept('clusterIPs') ? ['clusterIP', 'clusterIPs'] : [];
  const gone = [
    ...addresses,
    ...stale(lostAddress, 'ipFamilies', 'ipFamilyPolicy'),
    ...stale(old.type === 'ExternalName' && fields.type !== 'ExternalName', 'externalName'),
    ...stale(old.needsHealthCheckPort && !fields.needsHealthCheckPort, 'healthCheckNodePort'),
    ...stale(wasBalanced && !isBalanced, 'allocateLoadBalancerNodePorts', 'loadBalancerClass'),
    ...stale(old.isReachedFromOutside && !fields.isReachedFromOutside, 'externalTrafficPolicy'),
  ];
  const lostPorts =
    old.mayHaveNodePorts &&
    !fields.mayHaveNodePorts &&
    deepEqual(fields.ports.map(nodePortOf).sort(), old.ports.map(nodePortOf).sort());
  const ports = lostPorts ? fields.ports.map((port) => without(port, 'nodePort')) : fields.ports;
  return { ...service, spec: { ...without(spec, ...gone), ...(spec.ports === undefined ? {} : { ports }) } };
}
