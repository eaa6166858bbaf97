import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, without } from '../json.js';
import { printedTemplate } from '../pods/go-print.js';

const fixedFields = [
  'completions',
  'selector',
  'template',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
] as const;

/** What of a job may not change. */
export function jobUpdateErrors(job: ApiObject, current: ApiObject): readonly FieldError[] {
  return fixedFields.flatMap((field) => {
    const [next, before] = [at(job, 'spec', field), at(current, 'spec', field)];
    if (deepEqual(next, before)) return [];
    if (field === 'completions' && at(job, 'spec', 'completionMode') === 'Indexed') return elasticErrors(job);
    if (field === 'template') return templateErrors(record(next), record(before), isWaiting(current));
    return [fieldError.invalid(`spec.${field}`, next ?? null, 'field is immutable')];
  });
}

/** An indexed job grows and shrinks with the number of pods that it runs at once. Source: KEP-3715. */
function elasticErrors(job: ApiObject): readonly FieldError[] {
  const { completions, parallelism } = record(job.spec);
  if (completions === undefined || completions === parallelism) return [];
  return [fieldError.invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** A job that was made suspended and has not started. */
function isWaiting({ spec, status }: ApiObject): boolean {
  return record(spec).suspend === true && record(status).startTime === undefined;
}

/** Where the pods of a job may run can change as long as it waits. Source: KEP-2926. */
function templateErrors(next: JsonRecord, before: JsonRecord, mayMove: boolean): readonly FieldError[] {
  if (mayMove && deepEqual(fixedTemplate(next), fixedTemplate(before))) return [];
  return [fieldError.invalid('spec.template', printedTemplate(next), 'field is immutable')];
}

function fixedTemplate(template: JsonRecord): JsonRecord {
  const spec = record(template.spec);
  const affinity = without(record(spec.affinity), 'nodeAffinity');
  return {
    ...template,
    metadata: without(record(template.metadata), 'annotations', 'labels'),
    spec: { ...without(spec, 'nodeSelector', 'tolerations', 'schedulingGates'), affinity },
  };
}
