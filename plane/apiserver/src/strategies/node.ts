import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, list, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { cidrText, parseCidr } from './cidr.js';

const effects = ['NoExecute', 'NoSchedule', 'PreferNoSchedule'];

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
  validate: (node) => [...taintErrors(node), ...rangeErrors(node)],
  validateUpdate: (node, current) => [
    ...onceErrors(node, current, 'podCIDRs', 'node updates may not change podCIDR except from "" to valid'),
    ...onceErrors(node, current, 'providerID', 'node updates may not change providerID except from "" to valid'),
  ],
};

function taintErrors(node: ApiObject): readonly FieldError[] {
  const taints = records(at(node, 'spec', 'taints'));
  return taints.flatMap(({ key, value, effect }, index) => {
    const path = `spec.taints[${index}]`;
    const isTwice = taints.findIndex((other) => other.key === key && other.effect === effect) < index;
    return [
      ...((text(key) ?? '') === '' ? [fieldError.required(`${path}.key`)] : []),
      ...((text(effect) ?? '') === ''
        ? [fieldError.required(`${path}.effect`)]
        : effects.includes(String(effect))
          ? []
          : [fieldError.notSupported(`${path}.effect`, effect, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])]),
      ...(isTwice ? [{ ...fieldError.duplicate(path, { key, value, effect }) }] : []),
    ];
  });
}

function rangeErrors(node: ApiObject): readonly FieldError[] {
  return list(at(node, 'spec', 'podCIDRs')).flatMap((range, index) =>
    parseCidr(String(range)) === undefined ? [fieldError.invalid(`spec.podCIDRs[${index}]`, range, cidrText)] : [],
  );
}

/** A field that may be said later, and once. */
function onceErrors(node: ApiObject, current: ApiObject, field: string, problem: string): readonly FieldError[] {
  const [next, old] = [at(node, 'spec', field), at(current, 'spec', field)];
  const isOpen = old === undefined || old === '' || (list(old).length === 0 && Array.isArray(old));
  return isOpen || deepEqual(next, old) ? [] : [fieldError.forbidden(`spec.${field}`, problem)];
}
