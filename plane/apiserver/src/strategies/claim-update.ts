import { compareQuantities, deepEqual, type FieldError, fieldError, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text, without } from '../json.js';
import { printedLines } from '../pods/go-print.js';
import { lineDiff } from '../pods/line-diff.js';

const immutableText =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** A claim's spec is decided once; a bound claim may ask for more, and never for less than it has. */
export function validateClaimUpdate(claim: ApiObject, current: ApiObject): readonly FieldError[] {
  const isBound = at(current, 'status', 'phase') === 'Bound';
  const [next, old] = [fixedSpec(claim, isBound), fixedSpec(current, isBound)];
  // The volume, and a class that nobody named, are still open while a claim waits for them.
  const open = ['volumeName', 'storageClassName'].filter((field) => (text(old[field]) ?? '') === '');
  if (!deepEqual(without(next, ...open), without(old, ...open))) {
    return [fieldError.forbidden('spec', `${immutableText}\n${specDiff(claim, current, isBound)}`)];
  }
  const asked = text(at(claim, 'spec', 'resources', 'requests', 'storage'));
  const before = text(at(current, 'spec', 'resources', 'requests', 'storage'));
  const capacity = text(at(current, 'status', 'capacity', 'storage')) ?? before;
  if (asked === undefined || before === undefined || capacity === undefined) return [];
  const isLess = compareQuantities(parseQuantity(asked), parseQuantity(before)) < 0;
  const isTooLittle = compareQuantities(parseQuantity(asked), parseQuantity(capacity)) < 0;
  return isLess && isTooLittle
    ? [fieldError.forbidden('spec.resources.requests.storage', 'field can not be less than status.capacity')]
    : [];
}

/** What differs beside what may. */
function specDiff(claim: ApiObject, current: ApiObject, isBound: boolean): string {
  const [spec, old] = [record(claim.spec), record(current.spec)];
  const hasVolume = (text(old.volumeName) ?? '') !== '';
  const before = hasVolume ? old : { ...old, volumeName: spec.volumeName };
  const { resources, volumeAttributesClassName } = old;
  const requests = { ...record(at(spec, 'resources', 'requests')), storage: at(resources, 'requests', 'storage') };
  const attributes = spec.volumeAttributesClassName === undefined ? {} : { volumeAttributesClassName };
  const after = isBound ? { ...spec, ...attributes, resources: { ...record(spec.resources), requests } } : spec;
  const type = 'PersistentVolumeClaimSpec';
  return lineDiff(printedLines(type, before), printedLines(type, after));
}

function fixedSpec(claim: ApiObject, isBound: boolean): JsonRecord {
  const spec = record(claim.spec);
  if (!isBound) return spec;
  const resources = record(spec.resources);
  return { ...without(spec, 'volumeAttributesClassName'), resources: without(resources, 'requests') };
}
