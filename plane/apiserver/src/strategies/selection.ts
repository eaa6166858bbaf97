import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, records } from '../json.js';
import { templateErrors } from '../pods/template.js';
import type { Strategy } from '../registry/strategy.js';
import { isEmptySelector, isReadable, selectorErrors, selects } from './label-selector.js';
import { onlyRestartsAlways } from './rollout-rules.js';

/** A workload with its spec changed. */
export function withSpec(object: ApiObject, change: (spec: JsonRecord) => JsonRecord): ApiObject {
  return { ...object, spec: change(record(object.spec)) };
}

/** A new workload says nothing of its status. */
export function withStatusOf(status: JsonRecord): NonNullable<Strategy['prepareForCreate']> {
  return (object) => ({ ...object, status });
}

/**
 * The selector is there, can be read, is not empty and selects what the template makes, and the template's pods run for
 * ever; `claims` are volumes that the pods get beside their own.
 */
export function selectionErrors(
  object: ApiObject,
  kind: string,
  claims: readonly JsonRecord[] = [],
): readonly FieldError[] {
  const { selector, template } = record(object.spec);
  const given =
    selector === undefined ? [fieldError.required('spec.selector')] : selectorErrors(selector, 'spec.selector');
  const isEmpty = selector !== undefined && isEmptySelector(selector);
  if (!isReadable(selector)) return [...given, fieldError.invalid('spec.selector', selector, 'invalid label selector')];
  const labels = at(template, 'metadata', 'labels');
  return [
    ...given,
    ...(isEmpty ? [fieldError.invalid('spec.selector', selector, `empty selector is invalid for ${kind}`)] : []),
    ...(isEmpty || selects(selector, record(labels)) ? [] : [labelsMismatch(labels)]),
    ...podErrors(object, claims),
  ];
}

export function labelsMismatch(labels: unknown): FieldError {
  return fieldError.invalid(
    'spec.template.metadata.labels',
    labels ?? null,
    '`selector` does not match template `labels`',
  );
}

/** What a workload's pods are is decided once. */
export function selectorIsFixed(object: ApiObject, current: ApiObject): readonly FieldError[] {
  const selector = at(object, 'spec', 'selector');
  if (deepEqual(selector, at(current, 'spec', 'selector'))) return [];
  return [fieldError.invalid('spec.selector', selector, 'field is immutable')];
}

/** The rules of a template whose pods run for ever. */
export function podErrors(object: ApiObject, claims: readonly JsonRecord[] = []): readonly FieldError[] {
  const template = at(object, 'spec', 'template');
  return [
    ...templateErrors(withClaimVolumes(record(template), claims), 'spec.template'),
    ...onlyRestartsAlways(template, 'spec.template'),
    ...(at(template, 'spec', 'activeDeadlineSeconds') === undefined
      ? []
      : [
          fieldError.forbidden(
            'spec.template.spec.activeDeadlineSeconds',
            `activeDeadlineSeconds in ${deadlineOwner(object)} is not Supported`,
          ),
        ]),
  ];
}

/** A Deployment's pods are those of its ReplicaSets, and so upstream says. */
function deadlineOwner({ kind }: ApiObject): string {
  return kind === 'Deployment' ? 'ReplicaSet' : (kind ?? '');
}

/** The template with a volume for each claim that pods of a StatefulSet get. */
function withClaimVolumes(template: JsonRecord, claims: readonly JsonRecord[]): JsonRecord {
  if (claims.length === 0) return template;
  const spec = record(template.spec);
  const volumes = records(spec.volumes);
  const names = claims
    .map(({ metadata }) => record(metadata).name)
    .filter((name) => !volumes.some((volume) => volume.name === name));
  return { ...template, spec: { ...spec, volumes: [...volumes, ...names.map((name) => ({ name, emptyDir: {} }))] } };
}
