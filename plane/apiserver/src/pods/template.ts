import { type FieldError, fieldError, labelErrors } from '@castellan/machinery';
import { type JsonRecord, list, record } from '../json.js';
import { annotationErrors, seccompMatchErrors } from './annotation-rules.js';
import { withTemplateDefaults } from './defaults.js';
import { podSpecErrors } from './spec-rules.js';

/** spec.template of a workload with what its pods would get. */
export function withTemplate(spec: JsonRecord): JsonRecord {
  const template = record(spec.template);
  return {
    ...spec,
    template: { metadata: {}, ...template, spec: withTemplateDefaults(record(template.spec)) },
  };
}

/** The rules of the template of pods at `path`. */
export function templateErrors(template: unknown, path: string): readonly FieldError[] {
  const { metadata, spec: ownSpec } = record(template);
  const { labels, annotations } = record(metadata);
  const spec = record(ownSpec);
  return [
    ...labelErrors(record(labels), `${path}.labels`),
    ...annotationErrors(record(annotations), spec, `${path}.annotations`),
    ...podSpecErrors(spec, { path: `${path}.spec`, isPod: false, podName: '' }),
    ...seccompMatchErrors(record(annotations), spec, `${path}.spec`),
    ...(list(spec.ephemeralContainers).length > 0
      ? [fieldError.forbidden(`${path}.spec.ephemeralContainers`, 'ephemeral containers not allowed in pod template')]
      : []),
  ];
}
