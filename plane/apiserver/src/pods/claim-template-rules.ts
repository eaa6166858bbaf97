import { compareQuantities, type FieldError, fieldError, labelErrors, parseQuantity } from '@castellan/machinery';
import { at, type JsonRecord, list, record, text } from '../json.js';
import { selectorErrors } from '../strategies/label-selector.js';
import { oneOfOrUnset } from './scalar-rules.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];
const volumeModes = ['Block', 'Filesystem'];
const allowedMetadata = ['annotations', 'labels'];

/** The rules of a claim that is made for a pod's own volume. */
export function claimTemplateErrors(template: JsonRecord, path: string): readonly FieldError[] {
  const metadata = record(template.metadata);
  return [
    ...labelErrors(record(metadata.labels), `${path}.metadata.labels`),
    ...Object.keys(metadata)
      .filter((field) => !allowedMetadata.includes(field))
      .map((field) => fieldError.forbidden(`${path}.metadata.${field}`, 'cannot be set')),
    ...claimErrors(record(template.spec), `${path}.spec`),
  ];
}

function claimErrors(spec: JsonRecord, path: string): readonly FieldError[] {
  const modes = list(spec.accessModes);
  const storage = text(at(spec, 'resources', 'requests', 'storage'));
  const storagePath = `${path}.resources[storage]`;
  const isPositive = storage !== undefined && compareQuantities(parseQuantity(storage), parseQuantity('0')) > 0;
  return [
    ...(modes.length === 0 ? [fieldError.required(`${path}.accessModes`, 'at least 1 access mode is required')] : []),
    ...(spec.selector === undefined ? [] : selectorErrors(spec.selector, `${path}.selector`)),
    ...modes.flatMap((mode) => oneOfOrUnset(mode, accessModes, `${path}.accessModes`)),
    ...(modes.length > 1 && modes.includes('ReadWriteOncePod')
      ? [fieldError.forbidden(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes')]
      : []),
    ...(storage === undefined ? [fieldError.required(storagePath)] : []),
    ...(storage === undefined || isPositive
      ? []
      : [fieldError.invalid(storagePath, storage, 'must be greater than zero')]),
    ...oneOfOrUnset(spec.volumeMode, volumeModes, `${path}.volumeMode`),
  ];
}
