import { type FieldError, fieldError } from '@castellan/machinery';
import { at, type JsonRecord, list, record, text } from '../json.js';
import { oneOfOrUnset, subdomainErrors } from '../pods/scalar-rules.js';
import { nodeSelectorErrors } from '../pods/scheduling-rules.js';
import { accessModeErrors, positiveErrors, volumeModes } from './claim-validation.js';
import { persistentSources } from './persistent-sources.js';

const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

/** The rules of a volume. Source: ValidatePersistentVolumeSpec. */
export function volumeErrors(spec: JsonRecord): readonly FieldError[] {
  const className = text(spec.storageClassName) ?? '';
  const isRootRecycled = isRoot(spec.hostPath) && spec.persistentVolumeReclaimPolicy === 'Recycle';
  const reclaim = 'spec.persistentVolumeReclaimPolicy';
  return [
    ...(list(spec.accessModes).length === 0 ? [fieldError.required('spec.accessModes')] : []),
    ...accessModeErrors(spec, 'spec.accessModes'),
    ...capacityErrors(record(spec.capacity), 'spec.capacity'),
    ...oneOfOrUnset(spec.persistentVolumeReclaimPolicy, reclaimPolicies, reclaim),
    ...affinityErrors(spec.nodeAffinity, 'spec.nodeAffinity'),
    ...sourceErrors(spec),
    ...(isRootRecycled ? [fieldError.forbidden(reclaim, "may not be 'recycle' for a hostPath mount of '/'")] : []),
    ...(className === '' ? [] : subdomainErrors(className, 'spec.storageClassName')),
    ...oneOfOrUnset(spec.volumeMode, volumeModes, 'spec.volumeMode'),
    ...attributesErrors(spec),
  ];
}

function capacityErrors(capacity: JsonRecord, path: string): readonly FieldError[] {
  const names = Object.keys(capacity);
  return [
    ...(names.length === 0 ? [fieldError.required(path)] : []),
    ...(capacity.storage === undefined || names.length > 1
      ? [fieldError.notSupported(path, capacity, ['storage'])]
      : []),
    ...names.flatMap((name) => positiveErrors(capacity[name], `${path}[${name}]`)),
  ];
}

/** Which nodes reach the volume. */
function affinityErrors(affinity: unknown, path: string): readonly FieldError[] {
  if (affinity === undefined) return [];
  const required = at(affinity, 'required');
  return required === undefined
    ? [fieldError.required(`${path}.required`, 'must specify required node constraints')]
    : nodeSelectorErrors(record(required), `${path}.required`);
}

function sourceErrors(spec: JsonRecord): readonly FieldError[] {
  const [first, ...others] = persistentSources.filter(({ field }) => spec[field] !== undefined);
  if (first === undefined) return [fieldError.required('spec', 'must specify a volume type')];
  return [
    ...first.problems(record(spec[first.field]), `spec.${first.shownField ?? first.field}`),
    ...(first.field === 'local' && spec.nodeAffinity === undefined
      ? [fieldError.required('spec.nodeAffinity', 'Local volume requires node affinity')]
      : []),
    ...others.map(({ field }) => fieldError.forbidden(`spec.${field}`, 'may not specify more than 1 volume type')),
  ];
}

function isRoot(hostPath: unknown): boolean {
  return hostPath !== undefined && /^\/+$/.test(text(at(hostPath, 'path')) ?? '');
}

function attributesErrors({ volumeAttributesClassName: name, csi }: JsonRecord): readonly FieldError[] {
  if (name === undefined) return [];
  const path = 'spec.volumeAttributesClassName';
  return [
    ...(name === '' ? [fieldError.required(path, 'an empty string is disallowed')] : subdomainErrors(name, path)),
    ...(csi === undefined
      ? [fieldError.required('spec.csi', 'has to be specified when using volumeAttributesClassName')]
      : []),
  ];
}
