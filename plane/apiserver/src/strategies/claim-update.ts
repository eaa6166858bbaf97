import { compareQuantities, deepEqual, type FieldError, fieldError, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text, withAt } from '../json.js';
import { printedLines } from '../pods/go-print.js';
import { lineDiff } from '../pods/line-diff.js';

const immutableText =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
/** How a claim named its class before there was a field for it. */
const classAnnotation = 'volume.beta.kubernetes.io/storage-class';

/**
 * A claim's spec is decided once, but for a volume and a class that nobody named; a bound claim may ask for more, and
 * never for less than it has. Source: ValidatePersistentVolumeClaimUpdate.
 */
export function validateClaimUpdate(claim: ApiObject, current: ApiObject): readonly FieldError[] {
  const [spec, old] = [record(claim.spec), record(current.spec)];
  return [
    ...annotationErrors(claim, current),
    ...specErrors(comparableSpec(claim, current), withVolumeOf(spec, old)),
    ...shrinkErrors(claim, current),
    ...(deepEqual(spec.volumeMode, old.volumeMode)
      ? []
      : [fieldError.invalid('volumeMode', spec.volumeMode ?? null, 'field is immutable')]),
    ...attributesErrors(spec.volumeAttributesClassName, old.volumeAttributesClassName),
  ];
}

function annotationErrors(claim: ApiObject, current: ApiObject): readonly FieldError[] {
  const [next, old] = [claim, current].map(({ metadata }) => metadata.annotations?.[classAnnotation]);
  const isMoved = isMovedFromAnnotation(claim, current);
  if (isMoved || (next ?? '') === (old ?? '')) return [];
  return [fieldError.invalid(`metadata.annotations.${classAnnotation}`, next ?? '', 'field is immutable')];
}

/** The class that an annotation named may be written into its field. */
function isMovedFromAnnotation(claim: ApiObject, current: ApiObject): boolean {
  const old = current.metadata.annotations?.[classAnnotation];
  const next = claim.metadata.annotations?.[classAnnotation];
  return (
    old !== undefined &&
    at(current, 'spec', 'storageClassName') === undefined &&
    at(claim, 'spec', 'storageClassName') === old &&
    (next === undefined || next === old)
  );
}

function specErrors(next: JsonRecord, old: JsonRecord): readonly FieldError[] {
  if (deepEqual(next, old)) return [];
  const type = 'PersistentVolumeClaimSpec';
  const difference = lineDiff(printedLines(type, old), printedLines(type, next));
  return [fieldError.forbidden('spec', `${immutableText}\n${difference}`)];
}

/** What was, with the volume that is named now, which may be named once. */
function withVolumeOf(spec: JsonRecord, old: JsonRecord): JsonRecord {
  const isOpen = (text(old.volumeName) ?? '') === '' && (text(spec.volumeName) ?? '') !== '';
  return isOpen ? { ...old, volumeName: spec.volumeName } : old;
}

/** What is to be, with what may change as it was. */
function comparableSpec(claim: ApiObject, current: ApiObject): JsonRecord {
  const old = record(current.spec);
  let next: JsonRecord = restored(record(claim.spec), old, 'volumeAttributesClassName');
  if (old.storageClassName === undefined && mayNameClass(claim, current))
    next = restored(next, old, 'storageClassName');
  const isBound = at(claim, 'status', 'phase') === 'Bound';
  if (!isBound || at(next, 'resources', 'requests') === undefined) return next;
  return withAt(next, ['resources', 'requests', 'storage'], at(old, 'resources', 'requests', 'storage'));
}

/** A class may be named where none was, if an annotation did not name another. */
function mayNameClass(claim: ApiObject, current: ApiObject): boolean {
  const annotated = current.metadata.annotations?.[classAnnotation];
  return annotated === undefined || at(claim, 'spec', 'storageClassName') === annotated;
}

function restored(spec: JsonRecord, old: JsonRecord, field: string): JsonRecord {
  const { [field]: _, ...rest } = spec;
  return old[field] === undefined ? rest : { ...rest, [field]: old[field] };
}

/** Less may be asked for than before only while that is more than there is. */
function shrinkErrors(claim: ApiObject, current: ApiObject): readonly FieldError[] {
  const amount = (value: unknown) => parseQuantity(text(value) ?? '0');
  const asked = amount(at(claim, 'spec', 'resources', 'requests', 'storage'));
  const before = amount(at(current, 'spec', 'resources', 'requests', 'storage'));
  const capacity = amount(at(current, 'status', 'capacity', 'storage'));
  return compareQuantities(asked, before) < 0 && compareQuantities(asked, capacity) <= 0
    ? [fieldError.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : [];
}

function attributesErrors(next: unknown, old: unknown): readonly FieldError[] {
  if (old === undefined || (next !== undefined && next !== '') || next === old) return [];
  const what = next === undefined ? 'nil' : 'an empty string';
  return [fieldError.forbidden('spec.volumeAttributesClassName', `update from non-nil value to ${what} is forbidden`)];
}
