import {
  compareQuantities,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  formatQuantity,
  parseQuantity,
} from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, list, record, text } from '../json.js';
import { hostPathErrors } from '../pods/volume-sources.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];
const reclaimPolicies = ['Delete', 'Recycle', 'Retain'];

/** The rules of a new claim. Source: ValidatePersistentVolumeClaimSpec. */
export function claimErrors(claim: ApiObject): readonly FieldError[] {
  const spec = record(claim.spec);
  const storage = at(spec, 'resources', 'requests', 'storage');
  const path = 'spec.resources[storage]';
  return [
    ...(list(spec.accessModes).length === 0
      ? [fieldError.required('spec.accessModes', 'at least 1 access mode is required')]
      : []),
    ...accessModeErrors(spec),
    ...(storage === undefined ? [fieldError.required(path)] : positiveErrors(storage, path)),
    ...classErrors(spec),
    ...oneOf('spec.volumeMode', spec.volumeMode, volumeModes),
  ];
}

/** The rules of a volume beside where it is. Source: ValidatePersistentVolumeSpec. */
export function volumeErrors(volume: ApiObject, sources: readonly string[]): readonly FieldError[] {
  const spec = record(volume.spec);
  const capacity = record(spec.capacity);
  const names = Object.keys(capacity);
  return [
    ...(list(spec.accessModes).length === 0 ? [fieldError.required('spec.accessModes')] : []),
    ...accessModeErrors(spec),
    ...(names.length === 0 ? [fieldError.required('spec.capacity')] : []),
    ...(capacity.storage === undefined || names.length > 1
      ? [fieldError.notSupported('spec.capacity', capacity, ['storage'])]
      : []),
    ...names.flatMap((name) => positiveErrors(capacity[name], `spec.capacity[${name}]`)),
    ...oneOf('spec.persistentVolumeReclaimPolicy', spec.persistentVolumeReclaimPolicy, reclaimPolicies),
    ...sources
      .slice(1)
      .map((source) => fieldError.forbidden(`spec.${source}`, 'may not specify more than 1 volume type')),
    ...hostPathVolumeErrors(spec),
    ...(sources.length === 0 ? [fieldError.required('spec', 'must specify a volume type')] : []),
    ...(spec.local !== undefined && spec.nodeAffinity === undefined
      ? [fieldError.required('metadata.annotations', 'Local volume requires node affinity')]
      : []),
    ...classErrors(spec),
    ...oneOf('spec.volumeMode', spec.volumeMode, volumeModes),
  ];
}

function accessModeErrors(spec: JsonRecord): readonly FieldError[] {
  const modes = list(spec.accessModes).map(String);
  const path = 'spec.accessModes';
  return [
    ...modes.flatMap((mode) => oneOf(path, mode, accessModes)),
    ...(modes.includes('ReadWriteOncePod') && new Set(modes).size > 1
      ? [fieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

function hostPathVolumeErrors({ hostPath, persistentVolumeReclaimPolicy }: JsonRecord): readonly FieldError[] {
  if (hostPath === undefined) return [];
  const source = record(hostPath);
  const isRootRecycled = text(source.path) === '/' && persistentVolumeReclaimPolicy === 'Recycle';
  return [
    ...hostPathErrors(source, 'spec.hostPath'),
    ...(isRootRecycled
      ? [fieldError.forbidden('spec.persistentVolumeReclaimPolicy', "may not be 'recycle' for a hostPath mount of '/'")]
      : []),
  ];
}

function classErrors({ storageClassName }: JsonRecord): readonly FieldError[] {
  const name = text(storageClassName) ?? '';
  if (name === '') return [];
  return dns1123SubdomainErrors(name).map((problem) => fieldError.invalid('spec.storageClassName', name, problem));
}

function positiveErrors(amount: unknown, path: string): readonly FieldError[] {
  const quantity = parseQuantity(String(amount));
  if (compareQuantities(quantity, parseQuantity('0')) > 0) return [];
  return [fieldError.invalid(path, formatQuantity(quantity), 'must be greater than zero')];
}

function oneOf(path: string, value: unknown, supported: readonly string[]): readonly FieldError[] {
  if (value === undefined || supported.includes(String(value))) return [];
  return [fieldError.notSupported(path, value, supported)];
}
