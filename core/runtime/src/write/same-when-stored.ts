import { compareQuantities, isList, isRecord, parseQuantity } from '@castellan/machinery';

/** Fields whose values, or the values of whose fields, are quantities in the kinds of Kubernetes. */
const quantityFields = new Set(['requests', 'limits', 'capacity', 'hard', 'sizeLimit', 'divisor']);

/**
 * Whether `stored` is what a server makes of `said`: the same, but for quantities, which it writes in their shortest form
 * (`1000m` as `1`). A field that is `undefined` counts as absent.
 */
export function isSameWhenStored(said: unknown, stored: unknown, isQuantity = false): boolean {
  if (said === stored) return true;
  if (isList(said)) {
    return (
      isList(stored) && said.length === stored.length && said.every((item, at) => isSameWhenStored(item, stored[at]))
    );
  }
  if (isRecord(said)) {
    if (!isRecord(stored)) return false;
    const names = Object.keys(said).filter((name) => said[name] !== undefined);
    return (
      names.length === Object.keys(stored).length &&
      names.every((name) => isSameWhenStored(said[name], stored[name], isQuantity || quantityFields.has(name)))
    );
  }
  return isQuantity && isSameQuantity(said, stored);
}

function isSameQuantity(a: unknown, b: unknown): boolean {
  if (!isScalar(a) || !isScalar(b)) return false;
  try {
    return compareQuantities(parseQuantity(String(a)), parseQuantity(String(b))) === 0;
  } catch {
    // No quantity, so another value.
    return false;
  }
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
