import { deepEqual, type FieldError, fieldError } from '@castellan/machinery';
import { type ApiObject, at, count, type JsonRecord, list, record, records, text, without } from '../json.js';
import { gatedErrors, withGatedFieldsOf } from './gated-rules.js';
import { podSpecInGo, printedLines } from './go-print.js';
import { lineDiff } from './line-diff.js';
import { inRange, requiredText } from './scalar-rules.js';
import { tolerationErrors } from './scheduling-rules.js';

const changeableFields = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
];
const maxInt32 = 2_147_483_647;

/** What a pod runs is decided once; images and a few limits may change. */
export function podUpdateErrors(pod: ApiObject, current: ApiObject): readonly FieldError[] {
  const spec = record(pod.spec);
  const before = record(current.spec);
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers'] as const) {
    const path = `spec.${field}`;
    if (list(spec[field]).length !== list(before[field]).length) {
      return [...errors, fieldError.forbidden(path, 'pod updates may not add or remove containers')];
    }
    errors.push(...records(spec[field]).flatMap(({ image }, index) => imageErrors(image, `${path}[${index}].image`)));
  }
  const late = deadlineErrors(spec.activeDeadlineSeconds, before.activeDeadlineSeconds);
  errors.push(...late.errors);
  if (late.endsHere) return errors;
  errors.push(...onlyAddedTolerations(spec, before), ...onlyRemovedGates(spec, before));
  if (deepEqual(spec, before)) return errors;
  const isGated = list(before.schedulingGates).length > 0;
  if (isGated) errors.push(...gatedErrors(spec, before));
  const changed = withChangeableFieldsOf(before, isGated ? withGatedFieldsOf(before, spec) : spec);
  if (deepEqual(changed, before)) return errors;
  const fields = changeableFields.join(',');
  const problem = `pod updates may not change fields other than ${fields}\n${specDiff(before, changed)}`;
  return [...errors, fieldError.forbidden('spec', problem)];
}

function specDiff(before: JsonRecord, after: JsonRecord): string {
  return lineDiff(printedLines('PodSpec', podSpecInGo(before)), printedLines('PodSpec', podSpecInGo(after)));
}

function imageErrors(value: unknown, path: string): readonly FieldError[] {
  const image = text(value) ?? '';
  if (image === image.trim()) return requiredText(image, path);
  return [fieldError.invalid(path, image, 'must not have leading or trailing whitespace')];
}

/** A deadline may be set, and come nearer. */
function deadlineErrors(next: unknown, before: unknown) {
  const path = 'spec.activeDeadlineSeconds';
  const [now, old] = [count(next), count(before)];
  if (now === undefined) {
    const problem = 'must not update from a positive integer to nil value';
    return { errors: old === undefined ? [] : [fieldError.invalid(path, null, problem)], endsHere: false };
  }
  const outside = inRange(now, path, { from: 0, to: maxInt32 });
  const later = [fieldError.invalid(path, now, 'must be less than or equal to previous value')];
  const errors = outside.length > 0 ? outside : old !== undefined && old < now ? later : [];
  return { errors, endsHere: errors.length > 0 };
}

function onlyAddedTolerations(spec: JsonRecord, before: JsonRecord): readonly FieldError[] {
  const path = 'spec.tolerations';
  const timeless = (tolerations: unknown) =>
    records(tolerations).map((toleration) => without(toleration, 'tolerationSeconds'));
  const next = timeless(spec.tolerations);
  const isKept = timeless(before.tolerations).every((kept) => next.some((each) => deepEqual(each, kept)));
  if (!isKept) {
    return [fieldError.forbidden(path, 'existing toleration can not be modified except its tolerationSeconds')];
  }
  return tolerationErrors(spec.tolerations, path);
}

function onlyRemovedGates(spec: JsonRecord, before: JsonRecord): readonly FieldError[] {
  const known = records(before.schedulingGates).map(({ name }) => name);
  return records(spec.schedulingGates).flatMap(({ name }, index) => {
    if (known.includes(name)) return [];
    const problem = `only deletion is allowed, but found new scheduling gate '${text(name) ?? ''}'`;
    return [fieldError.forbidden(`spec.schedulingGates[${index}].name`, problem)];
  });
}

/** The spec with what may change as it was before. */
function withChangeableFieldsOf(before: JsonRecord, spec: JsonRecord): JsonRecord {
  const wasNegative = (count(before.terminationGracePeriodSeconds) ?? 0) < 0;
  const fields = [
    'activeDeadlineSeconds',
    'schedulingGates',
    'tolerations',
    ...(wasNegative && spec.terminationGracePeriodSeconds === 1 ? ['terminationGracePeriodSeconds'] : []),
  ];
  const kept = Object.fromEntries(
    fields.filter((field) => before[field] !== undefined).map((field) => [field, before[field]]),
  );
  return {
    ...without(spec, ...fields),
    ...kept,
    ...imagesOf(before, spec, 'containers'),
    ...imagesOf(before, spec, 'initContainers'),
  };
}

function imagesOf(before: JsonRecord, spec: JsonRecord, field: string): JsonRecord {
  if (spec[field] === undefined) return {};
  const images = records(before[field]).map(({ image }) => image);
  const containers = records(spec[field]).map((container, index) => ({ ...container, image: images[index] }));
  return { [field]: containers };
}

/** Containers that were put into a running pod stay as they are. */
export function ephemeralUpdateErrors(pod: ApiObject, current: ApiObject): readonly FieldError[] {
  const path = 'spec.ephemeralContainers';
  const next = records(at(pod, 'spec', 'ephemeralContainers'));
  return records(at(current, 'spec', 'ephemeralContainers')).flatMap((before) => {
    const name = JSON.stringify(text(before.name) ?? '');
    const after = next.findLast((each) => each.name === before.name);
    if (after === undefined) {
      return [fieldError.forbidden(path, `existing ephemeral containers ${name} may not be removed\n`)];
    }
    if (deepEqual(before, after)) return [];
    const [old, now] = [printedLines('EphemeralContainer', before), printedLines('EphemeralContainer', after)];
    return [
      fieldError.forbidden(path, `existing ephemeral containers ${name} may not be changed\n${lineDiff(old, now)}`),
    ];
  });
}
