import { type CelBudget, traversalCost } from './budget.js';
import { noSuchOverload } from './cel-error.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import { authorizerFunctions } from './library-authorizer.js';
import { listFunctions } from './library-lists.js';
import { messageFunctions } from './library-messages.js';
import { networkFunctions } from './library-network.js';
import { optionalFunctions } from './library-optional.js';
import { quantityFunctions } from './library-quantity.js';
import { semverFunctions } from './library-semver.js';
import { standardFunctions } from './library-standard.js';
import { stringFunctions } from './library-strings.js';
import { timeFunctions } from './library-time.js';
import { urlFunctions } from './library-url.js';
import { type CelValue, isCelList } from './value.js';

/** Several libraries may have a function of one name: the first that knows the arguments' types answers. */
export const libraries: readonly FunctionTable[] = [
  standardFunctions,
  timeFunctions,
  stringFunctions,
  listFunctions,
  optionalFunctions,
  quantityFunctions,
  networkFunctions,
  urlFunctions,
  semverFunctions,
  authorizerFunctions,
  messageFunctions,
];

const byName = new Map<string, readonly CelFunction[]>();
for (const library of libraries) {
  for (const [name, each] of Object.entries(library)) byName.set(name, [...(byName.get(name) ?? []), each]);
}

export function callFunction(
  name: string,
  target: CelValue | undefined,
  parameters: readonly CelValue[],
  budget: CelBudget,
): CelValue {
  const looked = [target, ...parameters].reduce((sum: number, value) => sum + lengthOf(value), 0);
  budget.spend(1 + looked * traversalCost);
  for (const each of byName.get(name) ?? []) {
    const extra = each.cost?.(parameters, target);
    if (extra !== undefined) budget.spend(extra);
    const result = each.run(parameters, target, budget);
    if (result !== undefined) return result;
  }
  throw noSuchOverload(name);
}

function lengthOf(value: CelValue | undefined): number {
  return typeof value === 'string' || (value !== undefined && isCelList(value)) ? value.length : 0;
}
