import { type CelBudget, traversalCost } from './budget.js';
import { CelCostError, CelEvaluationError, noSuchOverload } from './cel-error.js';
import { type Expression, isExpression, listOf, operand } from './expression.js';
import { callFunction } from './functions.js';
import { isMacro, type MacroTools, runMacro } from './macros.js';
import { applyBinary, checkedInt } from './operators.js';
import { CelOptional, CelType, CelUint, type CelValue, isCelList, isCelMap, LiteralMap } from './value.js';

/** What names stand for. */
export type Variables = ReadonlyMap<string, CelValue>;

const binaryOperators = new Set(['==', '!=', '<', '<=', '>', '>=', '+', '-', '*', '/', '%', 'in']);
const typeNames = new Set(['bool', 'bytes', 'double', 'int', 'list', 'map', 'null_type', 'string', 'type', 'uint']);

/**
 * The value of an expression.
 *
 * @throws CelEvaluationError where it has none, CelCostError when it costs more than `budget` holds.
 */
export function evaluate(expression: Expression, variables: Variables, budget: CelBudget): CelValue {
  const { op, args } = expression;
  const run = (index: number) => evaluate(operand(args, index), variables, budget);
  if (binaryOperators.has(op)) return binary(op, run(0), run(1), budget);
  switch (op) {
    case 'value':
      return literal(args);
    case 'id':
      budget.spend(1);
      return variable(String(args), variables);
    case '.':
      budget.spend(1);
      return select(run(0), String(listOf(args)[1]));
    case '.?':
      budget.spend(1);
      return selectOptionally(run(0), String(listOf(args)[1]));
    case '[]':
      budget.spend(1);
      return index(run(0), run(1));
    case '[?]':
      budget.spend(1);
      return selectOptionally(run(0), run(1));
    case '?:':
      return bool(run(0), '_?_:_') ? run(1) : run(2);
    case '&&':
      return logical(args, false, variables, budget);
    case '||':
      return logical(args, true, variables, budget);
    case '!_':
      return !bool(run(0), '!_');
    case '-_':
      return negative(run(0));
    case 'list':
      budget.spend(10);
      return listOf(args)
        .filter(isExpression)
        .map((item) => evaluate(item, variables, budget));
    case 'map':
      budget.spend(30);
      return literalMap(args, variables, budget);
    case 'call':
    case 'rcall':
      return call(expression, variables, budget);
    default:
      throw noSuchOverload(op);
  }
}

function literal(value: unknown): CelValue {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  if (typeof value === 'number' || typeof value === 'boolean' || value instanceof Uint8Array) return value;
  // The one literal that is an object: an unsigned number.
  return new CelUint(BigInt(String(value)));
}

function variable(name: string, variables: Variables): CelValue {
  const value = variables.get(name);
  if (value !== undefined) return value;
  if (typeNames.has(name)) return new CelType(name);
  throw new CelEvaluationError(`no such attribute(s): ${name}`);
}

function binary(op: string, left: CelValue, right: CelValue, budget: CelBudget): CelValue {
  budget.spend(1 + sizeForCost(op, left, right) * traversalCost);
  return applyBinary(op, left, right);
}

/** What an operator looks at: comparing texts, adding lists and searching one depend on how long they are. */
function sizeForCost(op: string, left: CelValue, right: CelValue): number {
  const [one, other] = [lengthOf(left), lengthOf(right)];
  if (op === '+') return one + other;
  if (op === 'in') return isCelMap(right) ? 0 : other * 10;
  return Math.min(one, other);
}

function lengthOf(value: CelValue): number {
  if (typeof value === 'string') return value.length;
  return isCelList(value) || value instanceof Uint8Array ? value.length : 0;
}

function select(value: CelValue, name: string): CelValue {
  if (value instanceof CelOptional) return selectOptionally(value, name);
  if (!isCelMap(value)) throw noSuchOverload('select');
  const found = value.get(name);
  if (found === undefined) throw new CelEvaluationError(`no such key: ${name}`);
  return found;
}

function index(value: CelValue, key: CelValue): CelValue {
  if (value instanceof CelOptional) return selectOptionally(value, key);
  const found = lookUp(value, key);
  if (found !== undefined) return found;
  throw new CelEvaluationError(`${isCelList(value) ? 'index out of bounds' : 'no such key'}: ${String(key)}`);
}

function lookUp(value: CelValue, key: CelValue): CelValue | undefined {
  if (isCelMap(value)) return value.get(key);
  if (!isCelList(value)) throw noSuchOverload('_[_]');
  if (typeof key === 'bigint' || typeof key === 'number') return value[Number(key)];
  throw noSuchOverload('_[_]');
}

function selectOptionally(value: CelValue, key: CelValue): CelOptional {
  const inner = value instanceof CelOptional ? value.value : value;
  return new CelOptional(inner === undefined ? undefined : lookUp(inner, key));
}

/** The side that decides, decides, also when the other has no value. */
function logical(args: unknown, decisive: boolean, variables: Variables, budget: CelBudget): boolean {
  const name = decisive ? '_||_' : '_&&_';
  let failure: unknown;
  for (const side of [0, 1]) {
    try {
      if (bool(evaluate(operand(args, side), variables, budget), name) === decisive) return decisive;
    } catch (error) {
      if (error instanceof CelCostError) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  return !decisive;
}

function bool(value: CelValue, name: string): boolean {
  if (typeof value === 'boolean') return value;
  throw noSuchOverload(name);
}

function negative(value: CelValue): CelValue {
  if (typeof value === 'bigint') return checkedInt(-value);
  if (typeof value === 'number') return -value;
  throw noSuchOverload('-_');
}

function literalMap(args: unknown, variables: Variables, budget: CelBudget): CelValue {
  const entries = listOf(args).map((entry): readonly [CelValue, CelValue] => [
    evaluate(operand(entry, 0), variables, budget),
    evaluate(operand(entry, 1), variables, budget),
  ]);
  return new LiteralMap(entries);
}

function call({ op, args }: Expression, variables: Variables, budget: CelBudget): CelValue {
  const [name, receiver, given] = op === 'call' ? [listOf(args)[0], undefined, listOf(args)[1]] : listOf(args);
  const parameters = listOf(given).filter(isExpression);
  const target = isExpression(receiver) ? receiver : undefined;
  const tools: MacroTools = {
    evaluate: (expression, added) =>
      evaluate(expression, added === undefined ? variables : new Map([...variables, ...added]), budget),
    spend: (units) => budget.spend(units),
  };
  if (isMacro(String(name), target, parameters)) return runMacro(String(name), target, parameters, tools);
  const space = target?.op === 'id' && namespaces.has(String(target.args)) ? `${String(target.args)}.` : undefined;
  const values = parameters.map((parameter) => evaluate(parameter, variables, budget));
  if (space !== undefined) return callFunction(`${space}${String(name)}`, undefined, values, budget);
  const on = target === undefined ? undefined : evaluate(target, variables, budget);
  return callFunction(String(name), on, values, budget);
}

/** Functions are called on these as if they were values: `optional.of(x)`. */
const namespaces = new Set(['optional', 'math', 'strings', 'sets', 'base64', 'ip', 'cidr', 'jsonpatch']);
