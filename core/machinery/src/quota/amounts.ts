import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from '../value/quantity.js';
import { isRecord } from '../value/record.js';

/** Amounts of resources by name: `requests.cpu` → 600m. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** Reads a ResourceList; what is no quantity is left out. */
export function parseAmounts(value: unknown): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(isRecord(value) ? value : {})) {
    if (typeof text === 'string' || typeof text === 'number') amounts.set(name, parseQuantity(String(text)));
  }
  return amounts;
}

export function formatAmounts(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

export function sumOfAmounts(left: Amounts, right: Amounts): Amounts {
  return combined(left, right, addQuantities);
}

/** Of each resource the larger amount. */
export function largerAmounts(left: Amounts, right: Amounts): Amounts {
  return combined(left, right, (a, b) => (compareQuantities(a, b) < 0 ? b : a));
}

function combined(left: Amounts, right: Amounts, join: (a: Quantity, b: Quantity) => Quantity): Amounts {
  const result = new Map(left);
  for (const [name, amount] of right) {
    const known = result.get(name);
    result.set(name, known === undefined ? amount : join(known, amount));
  }
  return result;
}
