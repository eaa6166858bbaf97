import { type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, list, record, records, text } from '../json.js';
import { annotationErrors, appArmorMatchErrors, mirrorErrors, seccompMatchErrors } from './annotation-rules.js';
import { imageSpaceErrors } from './container-rules.js';
import { podSpecErrors } from './spec-rules.js';

/** The rules of a pod that is made, or that takes the place of `current`. */
export function podErrors(pod: ApiObject, current?: ApiObject): readonly FieldError[] {
  const spec = record(pod.spec);
  const annotations = record(pod.metadata.annotations);
  return [
    ...annotationErrors(annotations, spec, 'metadata.annotations'),
    ...podSpecErrors(spec, { path: 'spec', isPod: true, podName: pod.metadata.name ?? '' }),
    ...tokenErrors(spec),
    ...imageSpaceErrors(spec.containers, 'spec.containers'),
    ...imageSpaceErrors(spec.initContainers, 'spec.initContainers'),
    ...(current === undefined
      ? createErrors(spec, annotations)
      : mirrorErrors(annotations, record(current.metadata.annotations))),
  ];
}

function createErrors(spec: JsonRecord, annotations: JsonRecord): readonly FieldError[] {
  const isBound = (text(spec.nodeName) ?? '') !== '';
  return [
    ...(list(spec.ephemeralContainers).length > 0
      ? [fieldError.forbidden('spec.ephemeralContainers', 'cannot be set on create')]
      : []),
    ...(isBound && list(spec.schedulingGates).length > 0
      ? [fieldError.forbidden('spec.nodeName', 'cannot be set until all schedulingGates have been cleared')]
      : []),
    ...seccompMatchErrors(annotations, spec, 'spec'),
    ...appArmorMatchErrors(annotations, spec, 'spec'),
  ];
}

/** A token is somebody's. */
function tokenErrors(spec: JsonRecord): readonly FieldError[] {
  if ((text(spec.serviceAccountName) ?? '') !== '') return [];
  return records(spec.volumes).flatMap(({ projected }, position) =>
    records(record(projected).sources).flatMap(({ serviceAccountToken }, index) =>
      serviceAccountToken === undefined
        ? []
        : [
            fieldError.forbidden(
              `spec.volumes[${position}].projected.sources[${index}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}
