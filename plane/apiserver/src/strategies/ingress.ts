import {
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  isIpAddress,
  wildcardSubdomainErrors,
} from '@castellan/machinery';
import { at, count, type JsonRecord, list, record, records, text } from '../json.js';
import {
  badIpAddress,
  labelNameErrors,
  pathSegmentErrors,
  portNumberErrors,
  requiredText,
  subdomainErrors,
} from '../pods/scalar-rules.js';
import type { Strategy } from '../registry/strategy.js';
import { portReferenceErrors } from './port-names.js';

const classAnnotation = 'kubernetes.io/ingress.class';
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
/** What a path that is compared must not hold, and must not end in. */
const illegalParts = ['//', '/./', '/../', '%2f', '%2F'];
const illegalEnds = ['/..', '/.'];

export const ingressStrategy: Strategy = {
  prepareForCreate: (ingress) => ({ ...ingress, status: { loadBalancer: {} } }),
  validate: (ingress, current) => {
    const { rules, defaultBackend, ingressClassName, tls } = record(ingress.spec);
    const annotation = ingress.metadata.annotations?.[classAnnotation];
    const isTwice = current === undefined && annotation !== undefined && ingressClassName !== undefined;
    return [
      ...(list(rules).length === 0 && defaultBackend === undefined
        ? [fieldError.invalid('spec', null, 'either `defaultBackend` or `rules` must be specified')]
        : []),
      ...(defaultBackend === undefined ? [] : backendErrors(record(defaultBackend), 'spec.defaultBackend')),
      ...records(rules).flatMap((rule, index) => ruleErrors(rule, `spec.rules[${index}]`)),
      ...records(tls).flatMap((each, index) => tlsErrors(each, `spec.tls[${index}]`)),
      ...(ingressClassName === undefined ? [] : subdomainErrors(ingressClassName, 'spec.ingressClassName')),
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
  validateStatus: ({ status }) =>
    records(at(status, 'loadBalancer', 'ingress')).flatMap(({ ip, hostname }, index) => {
      const path = `status.loadBalancer.ingress[${index}]`;
      const host = text(hostname) ?? '';
      const isAddress = isIpAddress(host);
      return [
        ...((text(ip) ?? '') === '' ? [] : badIpAddress(ip, `${path}.ip`)),
        ...(host === '' ? [] : subdomainErrors(host, `${path}.hostname`)),
        ...(isAddress ? [fieldError.invalid(`${path}.hostname`, host, 'must be a DNS name, not an IP address')] : []),
      ];
    }),
};

function tlsErrors({ hosts, secretName }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...list(hosts).flatMap((each, index) => {
      const host = text(each) ?? '';
      const problems = host.includes('*') ? wildcardSubdomainErrors(host) : dns1123SubdomainErrors(host);
      return problems.map((problem) => fieldError.invalid(`${path}.hosts[${index}]`, host, problem));
    }),
    ...((text(secretName) ?? '') === '' ? [] : subdomainErrors(secretName, `${path}.secretName`)),
  ];
}

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
  if (pathType === undefined) return [fieldError.required(`${path}.pathType`, 'pathType must be specified')];
  const typeErrors = pathTypes.includes(pathType)
    ? pathTextErrors(text(each.path) ?? '', pathType, `${path}.path`)
    : [fieldError.notSupported(`${path}.pathType`, pathType, pathTypes)];
  return [...typeErrors, ...backendErrors(record(each.backend), `${path}.backend`)];
}

/** What the text may hold depends on who compares it with the paths of requests. */
function pathTextErrors(value: string, pathType: string, path: string): readonly FieldError[] {
  const isFree = pathType === 'ImplementationSpecific';
  const invalid = (problem: string) => fieldError.invalid(path, value, problem);
  return [
    ...(value.startsWith('/') || (isFree && value === '') ? [] : [invalid('must be an absolute path')]),
    ...(isFree ? [] : illegalParts)
      .filter((part) => value.includes(part))
      .map((part) => invalid(`must not contain '${part}'`)),
    ...(isFree ? [] : illegalEnds)
      .filter((end) => value.endsWith(end))
      .map((end) => invalid(`cannot end with '${end}'`)),
  ];
}

function backendErrors(backend: JsonRecord, path: string): readonly FieldError[] {
  if (backend.resource !== undefined && backend.service !== undefined) {
    return [fieldError.invalid(path, '', 'cannot set both resource and service backends')];
  }
  if (backend.resource !== undefined) return referenceErrors(record(backend.resource), `${path}.resource`);
  if (backend.service === undefined) return [fieldError.invalid(path, '', 'resource or service backend is required')];
  const { name, port } = record(backend.service);
  return [
    ...((text(name) ?? '') === ''
      ? [fieldError.required(`${path}.service.name`)]
      : labelNameErrors(name, `${path}.service.name`)),
    ...backendPortErrors(record(port), path),
  ];
}

function backendPortErrors({ name, number }: JsonRecord, path: string): readonly FieldError[] {
  const hasName = (text(name) ?? '') !== '';
  const hasNumber = (count(number) ?? 0) !== 0;
  if (hasName && hasNumber) return [fieldError.invalid(path, '', 'cannot set both port name & port number')];
  if (hasName) return portReferenceErrors(name, `${path}.service.port.name`);
  if (hasNumber) return portNumberErrors(number, `${path}.service.port.number`);
  return [fieldError.required(path, 'port name or number is required')];
}

/** An object of the same namespace. */
function referenceErrors({ apiGroup, kind, name }: JsonRecord, path: string): readonly FieldError[] {
  return [
    ...(apiGroup === undefined ? [] : subdomainErrors(apiGroup, `${path}.apiGroup`)),
    ...requiredText(kind, `${path}.kind`),
    ...pathSegmentErrors(kind, `${path}.kind`),
    ...requiredText(name, `${path}.name`),
    ...pathSegmentErrors(name, `${path}.name`),
  ];
}
