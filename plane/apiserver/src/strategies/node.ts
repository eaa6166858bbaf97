import { deepEqual, type FieldError, fieldError, labelValueErrors } from '@castellan/machinery';
import { type ApiObject, at, list, record, records, text } from '../json.js';
import { printed } from '../pods/go-print.js';
import { quantityErrors } from '../pods/resource-rules.js';
import { oneOf, qualifiedErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { cidrText, parseCidr } from './cidr.js';

/** In the order in which refusals list them. */
const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** What a node says of itself even when it says nothing; Go writes these without a value. */
const emptyInfo = {
  machineID: '',
  systemUUID: '',
  bootID: '',
  kernelVersion: '',
  osImage: '',
  containerRuntimeVersion: '',
  kubeletVersion: '',
  kubeProxyVersion: '',
  operatingSystem: '',
  architecture: '',
};

export const nodeStrategy: Strategy = {
  keepsStatusOnCreate: true,
  withDefaults: (node) => {
    const status = record(node.status);
    const kubeletEndpoint = { Port: 0, ...record(at(status, 'daemonEndpoints', 'kubeletEndpoint')) };
    return {
      ...node,
      spec: record(node.spec),
      status: {
        ...status,
        daemonEndpoints: { ...record(status.daemonEndpoints), kubeletEndpoint },
        nodeInfo: { ...emptyInfo, ...record(status.nodeInfo) },
      },
    };
  },
  validate: (node) => [...taintErrors(node), ...amountErrors(node), ...rangeErrors(node)],
  validateStatus: (node) => [...amountErrors(node), ...addressErrors(node)],
  validateUpdate: (node, current) => [
    ...onceErrors(node, current, 'podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
    ...onceErrors(node, current, 'providerID', 'node updates may not change providerID except from "" to valid'),
  ],
};

/** Upstream says it of the metadata. */
function taintErrors(node: ApiObject): readonly FieldError[] {
  const taints = records(at(node, 'spec', 'taints'));
  return taints.flatMap((taint, index) => {
    const { key, value, effect } = taint;
    const path = `metadata.taints[${index}]`;
    const problems = labelValueErrors(text(value) ?? '');
    const isTwice = taints.findIndex((other) => other.key === key && other.effect === effect) < index;
    return [
      ...qualifiedErrors(key, `${path}.key`),
      ...(problems.length === 0 ? [] : [fieldError.invalid(`${path}.value`, value, problems.join(';'))]),
      ...oneOf(effect, effects, `${path}.effect`),
      ...(isTwice
        ? [fieldError.duplicate(path, printed('Taint', taint), 'taints must be unique by key and effect pair')]
        : []),
    ];
  });
}

/** What a node has and what of it is free. */
function amountErrors(node: ApiObject): readonly FieldError[] {
  return ['capacity', 'allocatable'].flatMap((field) =>
    Object.entries(record(at(node, 'status', field))).flatMap(([name, value]) =>
      quantityErrors(name, value, `status.${field}.${name}`),
    ),
  );
}

function rangeErrors(node: ApiObject): readonly FieldError[] {
  const ranges = list(at(node, 'spec', 'podCIDRs')).map(String);
  const path = 'spec.podCIDRs';
  const families = new Set(ranges.map((range) => range.includes(':')));
  const isPair = ranges.length === 2 && families.size === 2;
  const malformed = ranges.flatMap((range, index) =>
    parseCidr(range) === undefined ? [fieldError.invalid(`${path}[${index}]`, range, cidrText)] : [],
  );
  const problem = 'may specify no more than one CIDR for each IP family';
  return [...malformed, ...(ranges.length < 2 || isPair ? [] : [fieldError.invalid(path, ranges, problem)])];
}

/** An address of a kind is said once. */
function addressErrors(node: ApiObject): readonly FieldError[] {
  const addresses = records(at(node, 'status', 'addresses'));
  return addresses.flatMap((address, index) =>
    addresses.findIndex((other) => deepEqual(other, address)) < index
      ? [fieldError.duplicate(`status.addresses[${index}]`, printed('NodeAddress', address))]
      : [],
  );
}

/** A field that may be said later, and once. */
function onceErrors(node: ApiObject, current: ApiObject, field: string, problem: string): readonly FieldError[] {
  const [next, old] = [at(node, 'spec', field), at(current, 'spec', field)];
  const isOpen = old === undefined || old === '' || (list(old).length === 0 && Array.isArray(old));
  return isOpen || deepEqual(next, old) ? [] : [fieldError.forbidden(`spec.${field}`, problem)];
}
