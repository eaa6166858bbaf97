import type { FieldError } from '@castellan/machinery';
import { type ApiObject, type JsonRecord, record } from '../json.js';
import { withTemplateDefaults } from './pod-defaults.js';
import { validatePod } from './pod-validation.js';

/** spec.template of a workload with what its pods would get; a workload without one keeps none. */
export function withTemplate(spec: JsonRecord): JsonRecord {
  const template = record(spec.template);
  return {
    ...spec,
    template: { metadata: {}, ...template, spec: withTemplateDefaults(record(template.spec)) },
  };
}

/** The rules of a pod, said of the template at `path`. */
export function templateErrors(template: unknown, path: string): readonly FieldError[] {
  const { metadata, spec } = record(template);
  const pod: ApiObject = { metadata: record(metadata), spec: record(spec) };
  return validatePod(pod).map((error) => ({ ...error, field: `${path}.${error.field}` }));
}
