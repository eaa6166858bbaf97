import { compareQuantities, deepEqual, type FieldError, fieldError, parseQuantity } from '@castellan/machinery';
import { type ApiObject, at, type JsonRecord, record, text, without } from '../json.js';

const immutableText =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** A claim's spec is decided once; a bound claim may ask for more, and never for less than it has. */
export function validateClaimUpdate(claim: ApiObject, current: ApiObject): readonly FieldError[] {
  const isBound = at(current, 'status', 'phase') === 'Bound';
  const [next, old] = [fixedSpec(claim, isBound), fixedSpec(current, isBound)];
  // The volume, and a class that nobody named, are still open while a claim waits for them.
  const open = ['volumeName', 'storageClassName'].filter((field) => (text(old[field]) ?? '') === '');
  if (!deepEqual(without(next, ...open), without(old, ...open))) return [fieldError.forbidden('spec', immutableText)];
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

function fixedSpec(claim: ApiObject, isBound: boolean): JsonRecord {
  const spec = record(claim.spec);
  if (!isBound) return spec;
  const resources = record(spec.resources);
  return { ...without(spec, 'volumeAttributesClassName'), resources: without(resources, 'requests') };
}
