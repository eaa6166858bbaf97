import { type FieldError, fieldError, qualifiedNameErrors } from '@castellan/machinery';
import { type JsonRecord, text } from '../json.js';

/** What of its own pod a container can be told, as upstream names it. */
const podFields: ReadonlySet<string> = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
  'spec.host',
]);

/** Those that a variable can hold; in the order of the alphabet, in which refusals list them. */
export const variableFields = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];

/** Those that a file can hold. */
export const fileFields = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
];

/** The rules of a reference to a field of the pod. */
export function fieldReferenceErrors(
  { apiVersion, fieldPath }: JsonRecord,
  allowed: readonly string[],
  path: string,
): readonly FieldError[] {
  const version = text(apiVersion) ?? '';
  const label = text(fieldPath) ?? '';
  const place = `${path}.fieldPath`;
  if (version === '') return [fieldError.required(`${path}.apiVersion`)];
  if (label === '') return [fieldError.required(place)];
  const unconverted = (problem: string) => [fieldError.invalid(place, label, `error converting fieldPath: ${problem}`)];
  if (version !== 'v1') return unconverted(`unsupported pod version: ${version}`);
  const [, field = '', key = ''] = /^(.+)\['(.*)'\]$/.exec(label) ?? [];
  if (field === 'metadata.annotations') return nameErrors(key.toLowerCase(), path);
  if (field === 'metadata.labels') return nameErrors(key, path);
  if (field !== '') return unconverted(`field label does not support subscript: ${label}`);
  if (!podFields.has(label)) return unconverted(`field label not supported: ${label}`);
  const internal = label === 'spec.host' ? 'spec.nodeName' : label;
  return allowed.includes(internal) ? [] : [fieldError.notSupported(place, internal, allowed)];
}

function nameErrors(name: string, path: string): readonly FieldError[] {
  return qualifiedNameErrors(name).map((problem) => fieldError.invalid(path, name, problem));
}

/** In the order of the alphabet. */
const resources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const wholeUnits = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** The rules of a reference to what a container asks for; a file says whose. */
export function resourceReferenceErrors(
  { containerName, resource, divisor }: JsonRecord,
  path: string,
  isFile: boolean,
): readonly FieldError[] {
  const name = text(resource) ?? '';
  const isKnown = resources.includes(name) || /^(?:requests|limits)\.hugepages-/.test(name);
  const unit = text(divisor) ?? '0';
  return [
    ...(isFile && (text(containerName) ?? '') === ''
      ? [fieldError.required(`${path}.containerName`)]
      : name === ''
        ? [fieldError.required(`${path}.resource`)]
        : isKnown
          ? []
          : [fieldError.notSupported(`${path}.resource`, name, resources)]),
    ...(unit === '0' ? [] : divisorErrors(name, unit, `${path}.divisor`)),
  ];
}

function divisorErrors(name: string, unit: string, path: string): readonly FieldError[] {
  const [, kind = ''] = /^(?:limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-)/.exec(name) ?? [];
  const only = (units: string, resource: string) =>
    fieldError.invalid(path, name, `only divisor's values ${units} are supported with the ${resource} resource`);
  if (kind === 'cpu') return unit === '1m' || unit === '1' ? [] : [only('1m and 1', 'cpu')];
  if (kind === '' || wholeUnits.includes(unit)) return [];
  const words = kind === 'hugepages-' ? 'hugepages' : kind === 'memory' ? kind : 'local ephemeral storage';
  return [only(wholeUnits.join(', '), words)];
}
