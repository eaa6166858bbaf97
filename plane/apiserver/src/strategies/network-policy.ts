import { type FieldError, fieldError } from '@castellan/machinery';
import { type JsonRecord, list, record, records, text } from '../json.js';
import { oneOfOrUnset, portNumberErrors } from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { cidrText, isStrictSubset, parseCidr } from './cidr.js';
import { selectorErrors } from './label-selector.js';
import { portReferenceErrors } from './port-names.js';

const policyTypes = ['Ingress', 'Egress'];
/** In the order in which refusals list them. */
const protocols = ['TCP', 'UDP', 'SCTP'];

export const networkPolicyStrategy: Strategy = {
  withDefaults: (policy) => {
    const spec = record(policy.spec);
    const types = list(spec.egress).length > 0 ? policyTypes : policyTypes.slice(0, 1);
    return {
      ...policy,
      spec: {
        podSelector: {},
        ...spec,
        ...(spec.ingress === undefined ? {} : { ingress: records(spec.ingress).map(withProtocols) }),
        ...(spec.egress === undefined ? {} : { egress: records(spec.egress).map(withProtocols) }),
        ...(list(spec.policyTypes).length > 0 ? {} : { policyTypes: types }),
      },
    };
  },
  validate: (policy) => {
    const { podSelector, ingress, egress, policyTypes: types } = record(policy.spec);
    const all = list(types);
    return [
      ...selectorErrors(podSelector, 'spec.podSelector'),
      ...records(ingress).flatMap((rule, index) => policyRuleErrors(rule, 'from', `spec.ingress[${index}]`)),
      ...records(egress).flatMap((rule, index) => policyRuleErrors(rule, 'to', `spec.egress[${index}]`)),
      ...(all.length > policyTypes.length
        ? [fieldError.invalid('spec.policyTypes', all, 'may not specify more than two policyTypes')]
        : all.flatMap((type, index) => oneOfOrUnset(type, policyTypes, `spec.policyTypes[${index}]`))),
    ];
  },
};

function withProtocols(rule: JsonRecord): JsonRecord {
  if (rule.ports === undefined) return rule;
  return { ...rule, ports: records(rule.ports).map((port) => ({ protocol: 'TCP', ...port })) };
}

function policyRuleErrors(rule: JsonRecord, peers: 'from' | 'to', path: string): readonly FieldError[] {
  return [
    ...records(rule.ports).flatMap((port, index) => portErrors(port, `${path}.ports[${index}]`)),
    ...records(rule[peers]).flatMap((peer, index) => peerErrors(peer, `${path}.${peers}[${index}]`)),
  ];
}

/** A port, a range of ports, or every port of a protocol. */
function portErrors({ protocol, port, endPort }: JsonRecord, path: string): readonly FieldError[] {
  const unknown = oneOfOrUnset(protocol, protocols, `${path}.protocol`);
  const named = port === undefined ? [] : portReferenceErrors(port, `${path}.port`);
  if (typeof endPort !== 'number') return [...unknown, ...named];
  const own = `${path}.endPort`;
  if (typeof port === 'number') {
    const isBackwards = endPort < port;
    return [
      ...unknown,
      ...named,
      ...(isBackwards ? [fieldError.invalid(own, port, 'must be greater than or equal to `port`')] : []),
      ...portNumberErrors(endPort, own),
    ];
  }
  const why = port === undefined ? '`port` is not specified' : '`port` is non-numeric';
  return [...unknown, fieldError.invalid(own, endPort, `may not be specified when ${why}`), ...named];
}

function peerErrors(peer: JsonRecord, path: string): readonly FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  const isSelected = podSelector !== undefined || namespaceSelector !== undefined;
  return [
    ...selectorErrors(podSelector, `${path}.podSelector`),
    ...selectorErrors(namespaceSelector, `${path}.namespaceSelector`),
    ...(ipBlock === undefined ? [] : blockErrors(record(ipBlock), `${path}.ipBlock`)),
    ...(isSelected || ipBlock !== undefined ? [] : [fieldError.required(path, 'must specify a peer')]),
    ...(isSelected && ipBlock !== undefined
      ? [fieldError.forbidden(path, 'may not specify both ipBlock and another peer')]
      : []),
  ];
}

function blockErrors({ cidr, except }: JsonRecord, path: string): readonly FieldError[] {
  const range = text(cidr) ?? '';
  if (range === '') return [fieldError.required(`${path}.cidr`)];
  const block = parseCidr(range);
  if (block === undefined) return [fieldError.invalid(`${path}.cidr`, range, cidrText)];
  return list(except).flatMap((each, index) => {
    const inner = parseCidr(String(each));
    const where = `${path}.except[${index}]`;
    if (inner === undefined) return [fieldError.invalid(where, each, cidrText)];
    return isStrictSubset(inner, block) ? [] : [fieldError.invalid(where, each, 'must be a strict subset of `cidr`')];
  });
}
