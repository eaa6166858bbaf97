import {
  compareQuantities,
  deepEqual,
  type FieldError,
  fieldError,
  formatQuantity,
  parseQuantity,
} from '@castellan/machinery';
import { at, type JsonRecord, list, record, text } from '../json.js';
import { labelNameErrors, oneOfOrUnset, requiredText, subdomainErrors } from '../pods/scalar-rules.js';
import { selectorErrors } from './label-selector.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
export const volumeModes = ['Block', 'Filesystem'] as const;

/**
 * The rules of a claim's spec, be it a claim or the template of one; `path` is that of the spec. Source:
 * ValidatePersistentVolumeClaimSpec.
 */
export function claimSpecErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const storage = at(spec, 'resources', 'requests', 'storage');
  const storagePath = `${path}.resources[storage]`;
  const { storageClassName: className, volumeAttributesClassName: attributes } = spec;
  return [
    ...(list(spec.accessModes).length === 0
      ? [fieldError.required(`${path}.accessModes`, 'at least 1 access mode is required')]
      : []),
    ...selectorErrors(spec.selector, `${path}.selector`),
    ...accessModeErrors(spec, `${path}.accessModes`),
    ...(storage === undefined ? [fieldError.required(storagePath)] : storageAmountErrors(storage, storagePath)),
    ...((text(className) ?? '') === '' ? [] : subdomainErrors(className, `${path}.storageClassName`)),
    ...oneOfOrUnset(spec.volumeMode, volumeModes, `${path}.volumeMode`),
    ...dataSourceErrors(spec, path),
    ...((text(attributes) ?? '') === '' ? [] : subdomainErrors(attributes, `${path}.volumeAttributesClassName`)),
  ];
}

/** How pods may use a volume; one that is for a single pod is for nothing else. */
export function accessModeErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const modes = list(spec.accessModes);
  const isShared = modes.some((mode) => mode !== 'ReadWriteOncePod' && accessModes.includes(text(mode) ?? ''));
  return [
    ...modes.flatMap((mode) => oneOfOrUnset(mode, accessModes, path)),
    ...(isShared && modes.includes('ReadWriteOncePod')
      ? [fieldError.forbidden(path, 'may not use ReadWriteOncePod with other access modes')]
      : []),
  ];
}

/** An amount of which there must be some, in whole bytes. */
function storageAmountErrors(amount: unknown, path: string): readonly FieldError[] {
  const tooSmall = positiveErrors(amount, path);
  if (tooSmall.length > 0) return tooSmall;
  const quantity = parseQuantity(String(amount));
  return quantity.nano % 1_000_000_000n === 0n
    ? []
    : [fieldError.invalid(path, formatQuantity(quantity), 'must be an integer')];
}

export function positiveErrors(amount: unknown, path: string): readonly FieldError[] {
  const quantity = parseQuantity(String(amount));
  if (compareQuantities(quantity, parseQuantity('0')) > 0) return [];
  return [fieldError.invalid(path, formatQuantity(quantity), 'must be greater than zero')];
}

/** What a claim's volume is filled with at first; the older field says the same as the newer, or is not there. */
function dataSourceErrors({ dataSource, dataSourceRef }: JsonRecord, path: string): readonly FieldError[] {
  const namespace = text(at(dataSourceRef, 'namespace')) ?? '';
  const isBoth = dataSource !== undefined && dataSourceRef !== undefined;
  const same = ['apiGroup', 'kind', 'name'].every((field) =>
    deepEqual(at(dataSource, field), at(dataSourceRef, field)),
  );
  const problem =
    namespace === '' ? 'must match dataSourceRef' : 'may not be specified when dataSourceRef.namespace is specified';
  return [
    ...(dataSource === undefined ? [] : referenceErrors(record(dataSource), `${path}.dataSource`)),
    ...(dataSourceRef === undefined ? [] : referenceErrors(record(dataSourceRef), `${path}.dataSourceRef`)),
    ...(namespace === '' ? [] : labelNameErrors(namespace, `${path}.dataSourceRef.namespace`)),
    // Upstream shows the path of a field as an empty structure.
    ...(isBoth && !(namespace === '' && same) ? [fieldError.invalid(path, {}, problem)] : []),
  ];
}

function referenceErrors({ apiGroup, kind, name }: JsonRecord, path: string): readonly FieldError[] {
  const group = text(apiGroup) ?? '';
  const problem = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...requiredText(name, `${path}.name`),
    ...requiredText(kind, `${path}.kind`),
    ...(group === '' && kind !== 'PersistentVolumeClaim' ? [fieldError.invalid(path, text(kind) ?? '', problem)] : []),
    ...(group === '' ? [] : subdomainErrors(group, `${path}.apiGroup`)),
  ];
}
