import { addQuantities, compareQuantities, parseQuantity, type Quantity } from '@castellan/machinery';
import { type ApiObject, at, record, records } from '../json.js';

/** Amounts of resources by name: `requests.cpu` → 600m. */
export type Amounts = ReadonlyMap<string, Quantity>;

export function parseAmounts(value: unknown): Amounts {
  const amounts = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(record(value))) {
    if (typeof text === 'string' || typeof text === 'number') amounts.set(name, parseQuantity(String(text)));
  }
  return amounts;
}

export function sumOf(left: Amounts, right: Amounts): Amounts {
  return combined(left, right, addQuantities);
}

/** What a pod asks for: the sum of its containers, or its largest init container where that is more. */
export function podAmounts(pod: ApiObject, kind: 'requests' | 'limits'): Amounts {
  const amountsOf = (container: unknown) => parseAmounts(at(container, 'resources', kind));
  const running = records(at(pod, 'spec', 'containers'))
    .map(amountsOf)
    .reduce(sumOf, new Map());
  const initial = records(at(pod, 'spec', 'initContainers')).map(amountsOf);
  const larger = initial.reduce(
    (all, each) => combined(all, each, (a, b) => (compareQuantities(a, b) < 0 ? b : a)),
    running,
  );
  return sumOf(larger, parseAmounts(at(pod, 'spec', 'overhead')));
}

function combined(left: Amounts, right: Amounts, join: (a: Quantity, b: Quantity) => Quantity): Amounts {
  const result = new Map(left);
  for (const [name, amount] of right) {
    const known = result.get(name);
    result.set(name, known === undefined ? amount : join(known, amount));
  }
  return result;
}
