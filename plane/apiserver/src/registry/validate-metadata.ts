import {
  annotationErrors,
  dns1123SubdomainErrors,
  type FieldError,
  fieldError,
  labelErrors,
} from '@castellan/machinery';
import type { ApiObject } from '../json.js';
import { finalizerErrors, ownFinalizerErrors } from './finalizer-rules.js';
import { ownerErrors } from './owner-rules.js';
import type { ResourceDefinition } from './resource.js';

/** The rules of metadata that a new object obeys (ValidateObjectMeta upstream). */
export function validateMetadata(definition: ResourceDefinition, object: ApiObject): readonly FieldError[] {
  const { name = '', generateName = '', finalizers = [] } = object.metadata;
  const problemsOf = definition.strategy.nameProblems ?? dns1123SubdomainErrors;
  const named =
    name === ''
      ? [fieldError.required('metadata.name', 'name or generateName is required')]
      : problemsOf(name).map((problem) => fieldError.invalid('metadata.name', name, problem));
  return [
    ...(generateName === '' ? [] : problemsOf(withoutTrailingDash(generateName))).map((problem) =>
      fieldError.invalid('metadata.generateName', generateName, problem),
    ),
    ...named,
    ...changeableErrors(object),
    ...finalizerErrors(finalizers),
    ...(definition.isCustom ? [] : ownFinalizerErrors(finalizers)),
  ];
}

/** The rules of what may change of an object's metadata, asked on create and on update. */
export function changeableErrors({ metadata }: ApiObject): readonly FieldError[] {
  const { labels = {}, annotations = {}, ownerReferences = [] } = metadata;
  return [
    ...labelErrors(labels, 'metadata.labels'),
    ...annotationErrors(annotations, 'metadata.annotations'),
    ...ownerErrors(ownerReferences),
  ];
}

/** A name is made of a base by adding to it: so a base may end in what a name may not end in. */
function withoutTrailingDash(base: string): string {
  return base.length > 1 && base.endsWith('-') ? `${base.slice(0, -2)}a` : base;
}
