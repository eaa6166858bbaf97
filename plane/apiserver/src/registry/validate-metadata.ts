import { dns1123SubdomainErrors, type FieldError, fieldError, labelErrors } from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import type { ResourceDefinition } from './resource.js';

/** The rules of metadata that every object obeys. */
export function validateMetadata(definition: ResourceDefinition, object: ApiObject): readonly FieldError[] {
  const { name, labels } = object.metadata;
  if (name === undefined || name === '') {
    return [fieldError.required('metadata.name', 'name or generateName is required')];
  }
  const problemsOf = definition.strategy.nameProblems ?? dns1123SubdomainErrors;
  return [
    ...problemsOf(name).map((problem) => fieldError.invalid('metadata.name', name, problem)),
    ...labelErrors(labels ?? {}, 'metadata.labels'),
  ];
}
