import { annotationErrors, type FieldError, fieldError, labelErrors } from '@castellan/machinery';
import { type JsonRecord, record } from '../json.js';
import { claimSpecErrors } from '../strategies/claim-validation.js';

const allowedMetadata = ['annotations', 'labels'];

/** The rules of a claim that is made for a pod's own volume. */
export function claimTemplateErrors(template: JsonRecord, path: string): readonly FieldError[] {
  const metadata = record(template.metadata);
  return [
    ...annotationErrors(record(metadata.annotations), `${path}.metadata.annotations`),
    ...labelErrors(record(metadata.labels), `${path}.metadata.labels`),
    ...Object.keys(metadata)
      .filter((field) => !allowedMetadata.includes(field))
      .map((field) => fieldError.forbidden(`${path}.metadata.${field}`, 'cannot be set')),
    ...claimSpecErrors(record(template.spec), `${path}.spec`),
  ];
}
