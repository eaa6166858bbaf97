import {
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  labelErrors,
  qualifiedNameErrors,
} from '@castellan/machinery';
import { type JsonRecord, list, record, records, text } from '../json.js';
import { containerErrors, ephemeralContainerErrors, initContainerErrors } from './container-rules.js';
import { operatingSystemErrors } from './operating-system-rules.js';
import { hostNetworkErrors } from './port-rules.js';
import { resourceErrors } from './resource-rules.js';
import { badIpAddress, inRange, labelNameErrors, oneOf, oneOfOrUnset } from './scalar-rules.js';
import { affinityErrors, spreadErrors, tolerationErrors } from './scheduling-rules.js';
import { podSecurityErrors } from './security-rules.js';
import { resourceClaimErrors, volumeErrors } from './volume-rules.js';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const maxInt32 = 2_147_483_647;
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchLength = 2048;

interface SpecPlace {
  readonly path: string;
  /** A pod, and not the template of one. */
  readonly isPod: boolean;
  /** Of the pod, where it has one already. */
  readonly podName: string;
}

/**
 * The rules of the spec of a pod or of a template of pods, in kube-apiserver's words and order. Options of containers on
 * Windows are not looked into.
 */
export function podSpecErrors(spec: JsonRecord, { path, isPod, podName }: SpecPlace): readonly FieldError[] {
  const at = (field: string) => `${path}.${field}`;
  const { volumes, errors } = volumeErrors(spec, path, podName);
  const place = { spec, volumes, isPod };
  return [
    ...(spec.terminationGracePeriodSeconds === undefined
      ? [fieldError.required(at('terminationGracePeriodSeconds'))]
      : []),
    ...errors,
    ...resourceClaimErrors(spec, path),
    ...containerErrors(at('containers'), place),
    ...initContainerErrors(at('initContainers'), place),
    ...ephemeralContainerErrors(at('ephemeralContainers'), place),
    ...podResourceErrors(spec, at('resources')),
    ...hostNetworkErrors(spec, path, isPod),
    ...oneOf(spec.restartPolicy, restartPolicies, at('restartPolicy')),
    ...oneOf(spec.dnsPolicy, dnsPolicies, at('dnsPolicy')),
    ...labelErrors(record(spec.nodeSelector), at('nodeSelector')),
    ...podSecurityErrors(spec, at('securityContext')),
    ...affinityErrors(spec.affinity, at('affinity')),
    ...dnsErrors(spec, at('dnsConfig')),
    ...records(spec.readinessGates).flatMap(({ conditionType }, index) =>
      qualified(conditionType, `${at('readinessGates')}[${index}].conditionType`),
    ),
    ...gateErrors(spec, at('schedulingGates')),
    ...spreadErrors(spec.topologySpreadConstraints, at('topologySpreadConstraints')),
    ...hostUsersErrors(spec, path),
    ...named(spec.serviceAccountName, at('serviceAccountName')),
    ...named(spec.nodeName, at('nodeName')),
    ...inRange(spec.activeDeadlineSeconds, at('activeDeadlineSeconds'), { from: 1, to: maxInt32 }),
    ...['hostname', 'subdomain'].flatMap((field) =>
      (text(spec[field]) ?? '') === '' ? [] : labelNameErrors(spec[field], at(field)),
    ),
    ...tolerationErrors(spec.tolerations, at('tolerations')),
    ...aliasErrors(spec, at('hostAliases')),
    ...named(spec.priorityClassName, at('priorityClassName')),
    ...(spec.runtimeClassName === undefined ? [] : subdomain(spec.runtimeClassName, at('runtimeClassName'))),
    ...oneOfOrUnset(spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'], at('preemptionPolicy')),
    ...resourceErrors({ limits: spec.overhead }, at('overhead')),
    ...operatingSystemErrors(spec, path),
  ];
}

function qualified(value: unknown, path: string): readonly FieldError[] {
  const name = text(value) ?? '';
  return qualifiedNameErrors(name).map((problem) => fieldError.invalid(path, name, problem));
}

function subdomain(value: unknown, path: string): readonly FieldError[] {
  const name = text(value) ?? '';
  return dns1123SubdomainErrors(name).map((problem) => fieldError.invalid(path, name, problem));
}

/** A name of another object, where there is one. */
function named(value: unknown, path: string): readonly FieldError[] {
  return (text(value) ?? '') === '' ? [] : subdomain(value, path);
}

function podResourceErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  if (spec.resources === undefined) return [];
  const resources = record(spec.resources);
  return [
    ...(resources.claims === undefined
      ? []
      : [fieldError.forbidden(`${path}.claims`, 'claims cannot be set for Resources at pod-level')]),
    ...resourceErrors(resources, path),
  ];
}

function gateErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const names = records(spec.schedulingGates).map(({ name }) => text(name) ?? '');
  return names.flatMap((name, index) => [
    ...qualified(name, `${path}[${index}]`),
    ...(names.indexOf(name) < index ? [fieldError.duplicate(`${path}[${index}]`, name)] : []),
  ]);
}

function dnsErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const config = record(spec.dnsConfig);
  const servers = list(config.nameservers);
  const searches = list(config.searches).map((search) => text(search) ?? '');
  const tooMany = (field: string, problem: string) => fieldError.invalid(`${path}.${field}`, config[field], problem);
  if (spec.dnsPolicy === 'None' && spec.dnsConfig === undefined) {
    return [fieldError.required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
  }
  if (spec.dnsPolicy === 'None' && servers.length === 0) {
    const problem = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
    return [fieldError.required(`${path}.nameservers`, problem)];
  }
  return [
    ...(servers.length > maxNameservers
      ? [tooMany('nameservers', `must not have more than ${maxNameservers} nameservers`)]
      : []),
    ...servers.flatMap((server, index) => badIpAddress(server, `${path}.nameservers[${index}]`)),
    ...(searches.length > maxSearches
      ? [tooMany('searches', `must not have more than ${maxSearches} search paths`)]
      : []),
    ...(searches.join(' ').length > maxSearchLength
      ? [
          tooMany(
            'searches',
            `must not have more than ${maxSearchLength} characters (including spaces) in the search list`,
          ),
        ]
      : []),
    ...searches.flatMap((search, index) => searchErrors(search, `${path}.searches[${index}]`)),
    ...records(config.options).flatMap(({ name }, index) =>
      (text(name) ?? '') === '' ? [fieldError.required(`${path}.options[${index}]`, 'must not be empty')] : [],
    ),
  ];
}

const searchText =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?(\\.[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?)*')";

/** A domain in which names are looked for: unlike those of objects it may hold underscores. */
function searchErrors(search: string, path: string): readonly FieldError[] {
  if (search === '.') return [];
  const domain = search.endsWith('.') ? search.slice(0, -1) : search;
  const part = '[a-z0-9_]([-a-z0-9_]*[a-z0-9_])?';
  const isGood = domain.length <= 253 && new RegExp(`^${part}(\\.${part})*$`).test(domain);
  return isGood ? [] : [fieldError.invalid(path, domain, searchText)];
}

/** A pod with users of its own shares no other namespace with its node. */
function hostUsersErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  if (spec.hostUsers !== false) return [];
  const shared = [
    { field: 'hostNetwork', shown: 'hostNetwork' },
    { field: 'hostPID', shown: 'HostPID' },
    { field: 'hostIPC', shown: 'HostIPC' },
  ];
  return shared
    .filter(({ field }) => spec[field] === true)
    .map(({ shown }) => fieldError.forbidden(`${path}.${shown}`, 'when `pod.Spec.HostUsers` is false'));
}

function aliasErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  return records(spec.hostAliases).flatMap(({ ip, hostnames }, index) => [
    ...badIpAddress(ip, `${path}[${index}].ip`),
    ...list(hostnames).flatMap((name, position) => subdomain(name, `${path}[${index}].hostnames[${position}]`)),
  ]);
}
