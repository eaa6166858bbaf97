import { CelCostError, CelEvaluationError, noSuchOverload } from './cel-error.js';
import { type Expression, operand } from './expression.js';
import { CelOptional, type CelValue, isCelList, isCelMap } from './value.js';

/** What a macro does with the expressions that it was given. */
export interface MacroTools {
  evaluate(expression: Expression, added?: ReadonlyMap<string, CelValue>): CelValue;
  spend(units: number): void;
}

const onCollections = new Set(['all', 'exists', 'exists_one', 'existsOne', 'filter', 'map']);

export function isMacro(name: string, target: Expression | undefined, parameters: readonly Expression[]): boolean {
  if (target === undefined) return name === 'has';
  if (name === 'bind') return target.op === 'id' && target.args === 'cel';
  if (name === 'optMap' || name === 'optFlatMap') return parameters.length === 2;
  return onCollections.has(name) && parameters.length >= 2 && parameters[0]?.op === 'id';
}

export function runMacro(
  name: string,
  target: Expression | undefined,
  parameters: readonly Expression[],
  tools: MacroTools,
): CelValue {
  if (target === undefined) return has(operand(parameters, 0), tools);
  const variable = String(operand(parameters, 0).args);
  if (name === 'bind') {
    const value = tools.evaluate(operand(parameters, 1));
    return tools.evaluate(operand(parameters, 2), new Map([[variable, value]]));
  }
  const on = tools.evaluate(target);
  if (name === 'optMap' || name === 'optFlatMap') return mapOptional(name, on, variable, operand(parameters, 1), tools);
  const items = itemsOf(on, name);
  const run = (position: number, item: CelValue) => {
    tools.spend(1);
    return tools.evaluate(operand(parameters, position), new Map([[variable, item]]));
  };
  switch (name) {
    case 'all':
      return quantify(items, false, (item) => run(1, item));
    case 'exists':
      return quantify(items, true, (item) => run(1, item));
    case 'exists_one':
    case 'existsOne':
      return items.filter((item) => bool(run(1, item))).length === 1;
    case 'filter':
      return items.filter((item) => bool(run(1, item)));
    default:
      return parameters.length === 2
        ? items.map((item) => run(1, item))
        : items.filter((item) => bool(run(1, item))).map((item) => run(2, item));
  }
}

/** Whether a field is there. What leads to it must be. */
function has(field: Expression, { evaluate, spend }: MacroTools): boolean {
  if (field.op !== '.') throw new CelEvaluationError('invalid argument to has() macro');
  spend(1);
  const found = evaluate(operand(field.args, 0));
  const holder = found instanceof CelOptional ? found.value : found;
  const name = Array.isArray(field.args) ? String(field.args[1]) : '';
  if (holder === undefined) return false;
  if (!isCelMap(holder)) throw noSuchOverload('has');
  return holder.get(name) !== undefined;
}

function itemsOf(on: CelValue, name: string): readonly CelValue[] {
  if (isCelList(on)) return on;
  if (isCelMap(on)) return on.keys();
  throw noSuchOverload(name);
}

/** An item that decides, decides, also when others have no value. */
function quantify(items: readonly CelValue[], decisive: boolean, test: (item: CelValue) => CelValue): boolean {
  let failure: unknown;
  for (const item of items) {
    try {
      if (bool(test(item)) === decisive) return decisive;
    } catch (error) {
      if (error instanceof CelCostError) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function bool(value: CelValue): boolean {
  if (typeof value === 'boolean') return value;
  throw noSuchOverload('_?_:_');
}

function mapOptional(name: string, on: CelValue, variable: string, step: Expression, tools: MacroTools): CelValue {
  if (!(on instanceof CelOptional)) throw noSuchOverload(name);
  if (on.value === undefined) return on;
  const value = tools.evaluate(step, new Map([[variable, on.value]]));
  return name === 'optMap' ? new CelOptional(value) : value;
}
