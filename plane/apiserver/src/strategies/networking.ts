import {
  deepEqual,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  isIpAddress,
  wildcardSubdomainErrors,
} from '@castellan/machinery';
import { at, type JsonRecord, list, record, records, text } from '../json.js';
import type { Strategy } from '../registry/strategy.js';
import { cidrText, isStrictSubset, parseCidr } from './cidr.js';

const classAnnotation = 'kubernetes.io/ingress.class';
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const policyTypes = ['Ingress', 'Egress'];

export const ingressStrategy: Strategy = {
  prepareForCreate: (ingress) => ({ ...ingress, status: { loadBalancer: {} } }),
  validate: (ingress, current) => {
    const { rules, defaultBackend, ingressClassName } = record(ingress.spec);
    const annotation = ingress.metadata.annotations?.[classAnnotation];
    const isTwice = current === undefined && annotation !== undefined && ingressClassName !== undefined;
    return [
      ...(list(rules).length === 0 && defaultBackend === undefined
        ? [fieldError.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')]
        : []),
      ...(defaultBackend === undefined ? [] : backendErrors(record(defaultBackend), 'spec.defaultBackend')),
      ...records(rules).flatMap((rule, index) => ruleErrors(rule, `spec.rules[${index}]`)),
      ...(isTwice && annotation !== ingressClassName
        ? [
            fieldError.invalid(
              `annotations.${classAnnotation}`,
              annotation,
              'must match `ingressClassName` when both are specified',
            ),
          ]
        : []),
    ];
  },
};

function ruleErrors(rule: JsonRecord, path: string): readonly FieldError[] {
  const host = text(rule.host) ?? '';
  const paths = at(rule, 'http', 'paths');
  return [
    ...hostErrors(host, `${path}.host`),
    ...(rule.http !== undefined && list(paths).length === 0 ? [fieldError.required(`${path}.http.paths`)] : []),
    ...records(paths).flatMap((each, index) => pathErrors(each, `${path}.http.paths[${index}]`)),
  ];
}

function hostErrors(host: string, path: string): readonly FieldError[] {
  if (host === '') return [];
  const problems = [
    ...(isIpAddress(host) ? ['must be a DNS name, not an IP address'] : []),
    ...(host.includes('*') ? wildcardSubdomainErrors(host) : dns1123SubdomainErrors(host)),
  ];
  return problems.map((problem) => fieldError.invalid(path, host, problem));
}

function pathErrors(each: JsonRecord, path: string): readonly FieldError[] {
  const pathType = text(each.pathType);
  const value = text(each.path) ?? '';
  const isAbsolute = value.startsWith('/') || (pathType === 'ImplementationSpecific' && value === '');
  const typeErrors =
    pathType === undefined
      ? [fieldError.required(`${path}.pathType`, 'pathType must be specified')]
      : pathTypes.includes(pathType)
        ? isAbsolute
          ? []
          : [fieldError.invalid(`${path}.path`, value, 'must be an absolute path')]
        : [fieldError.notSupported(`${path}.pathType`, pathType, pathTypes)];
  return [...typeErrors, ...backendErrors(record(each.backend), `${path}.backend`)];
}

function backendErrors(backend: JsonRecord, path: string): readonly FieldError[] {
  if (backend.resource !== undefined && backend.service !== undefined) {
    return [fieldError.invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (backend.resource !== undefined) return [];
  if (backend.service === undefined) return [fieldError.invalid(path, '', 'resource or service backend is required')];
  const { name, port } = record(backend.service);
  const { name: portName, number } = record(port);
  const hasName = (text(portName) ?? '') !== '';
  const hasNumber = number !== undefined && number !== 0;
  return [
    ...((text(name) ?? '') === '' ? [fieldError.required(`${path}.service.name`)] : []),
    ...(hasName && hasNumber ? [fieldError.invalid(path, '', 'cannot set both port name & port number')] : []),
    ...(hasName || hasNumber ? [] : [fieldError.required(path, 'port name or number is required')]),
  ];
}

export const ingressClassStrategy: Strategy = {
  validate: (ingressClass) => {
    const controller = at(ingressClass, 'spec', 'controller');
    return (text(controller) ?? '') === '' ? [fieldError.required('spec.controller')] : [];
  },
  validateUpdate: (ingressClass, current) => {
    const controller = at(ingressClass, 'spec', 'controller');
    if (deepEqual(controller, at(current, 'spec', 'controller'))) return [];
    return [fieldError.invalid('spec.controller', controller, 'field is immutable')];
  },
};

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
    const { ingress, egress, policyTypes: types } = record(policy.spec);
    return [
      ...records(ingress).flatMap((rule, index) => policyRuleErrors(rule, 'from', `spec.ingress[${index}]`)),
      ...records(egress).flatMap((rule, index) => policyRuleErrors(rule, 'to', `spec.egress[${index}]`)),
      ...list(types).flatMap((type, index) =>
        policyTypes.includes(String(type))
          ? []
          : [fieldError.notSupported(`spec.policyTypes[${index}]`, type, policyTypes)],
      ),
    ];
  },
};

function withProtocols(rule: JsonRecord): JsonRecord {
  if (rule.ports === undefined) return rule;
  return { ...rule, ports: records(rule.ports).map((port) => ({ protocol: 'TCP', ...port })) };
}

function policyRuleErrors(rule: JsonRecord, peers: 'from' | 'to', path: string): readonly FieldError[] {
  return [
    ...records(rule.ports).flatMap(({ port, endPort }, index) =>
      typeof endPort === 'number' && typeof port === 'number' && endPort < port
        ? [fieldError.invalid(`${path}.ports[${index}].endPort`, port, 'must be greater than or equal to `port`')]
        : [],
    ),
    ...records(rule[peers]).flatMap((peer, index) => peerErrors(peer, `${path}.${peers}[${index}]`)),
  ];
}

function peerErrors(peer: JsonRecord, path: string): readonly FieldError[] {
  if (peer.ipBlock === undefined) {
    const isThere = peer.podSelector !== undefined || peer.namespaceSelector !== undefined;
    return isThere ? [] : [fieldError.required(path, 'must specify a peer')];
  }
  if (peer.podSelector !== undefined || peer.namespaceSelector !== undefined) {
    return [fieldError.forbidden(path, 'may not specify both ipBlock and another peer')];
  }
  const { cidr, except } = record(peer.ipBlock);
  const range = text(cidr) ?? '';
  if (range === '') return [fieldError.required(`${path}.ipBlock.cidr`)];
  const block = parseCidr(range);
  if (block === undefined) return [fieldError.invalid(`${path}.ipBlock.cidr`, range, cidrText)];
  return list(except).flatMap((each, index) => {
    const inner = parseCidr(String(each));
    const where = `${path}.ipBlock.except[${index}]`;
    if (inner === undefined) return [fieldError.invalid(where, each, cidrText)];
    return isStrictSubset(inner, block) ? [] : [fieldError.invalid(where, each, 'must be a strict subset of `cidr`')];
  });
}
