import { CelEvaluationError, noSuchOverload } from './cel-error.js';
import { CelDuration, CelTimestamp } from './time.js';
import { CelUint, type CelValue, celEquals, isCelList, isCelMap, isCelObject } from './value.js';

const greatestInt = 2n ** 63n - 1n;
const leastInt = -(2n ** 63n);

/** `int` has 64 bits. */
export function checkedInt(value: bigint): bigint {
  if (value > greatestInt || value < leastInt) throw new CelEvaluationError('integer overflow');
  return value;
}

export function applyBinary(operator: string, left: CelValue, right: CelValue): CelValue {
  switch (operator) {
    case '==':
      return celEquals(left, right);
    case '!=':
      return !celEquals(left, right);
    case 'in':
      return isIn(left, right);
    case '<':
      return compare(operator, left, right) < 0;
    case '<=':
      return compare(operator, left, right) <= 0;
    case '>':
      return compare(operator, left, right) > 0;
    case '>=':
      return compare(operator, left, right) >= 0;
    default:
      return arithmetic(operator, left, right);
  }
}

function isIn(item: CelValue, container: CelValue): boolean {
  if (isCelMap(container)) return container.get(item) !== undefined;
  if (isCelList(container)) return container.some((other) => celEquals(item, other));
  throw noSuchOverload('@in');
}

/** Below 0 when `left` comes before `right`. Texts are in the order of their code points. */
export function compare(operator: string, left: CelValue, right: CelValue): number {
  if (isNumber(left) && isNumber(right)) return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  const order = isCelObject(left)
    ? left.compare?.(right)
    : isCelObject(right) && right instanceof CelUint
      ? -right.compare(left)
      : undefined;
  if (order === undefined || Number.isNaN(order)) throw noSuchOverload(`_${operator}_`);
  return order;
}

function compareTexts(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function isNumber(value: CelValue): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}

function arithmetic(operator: string, left: CelValue, right: CelValue): CelValue {
  if (typeof left === 'bigint' && typeof right === 'bigint') return checkedInt(integers(operator, left, right));
  if (typeof left === 'number' && typeof right === 'number') return doubles(operator, left, right);
  if (left instanceof CelUint && right instanceof CelUint) {
    const value = integers(operator, left.value, right.value);
    if (value < 0n || value > 2n ** 64n - 1n) throw new CelEvaluationError('unsigned integer overflow');
    return new CelUint(value);
  }
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') return left + right;
  if (operator === '+' && isCelList(left) && isCelList(right)) return [...left, ...right];
  if (operator === '+' || operator === '-') {
    const result = times(operator, left, right);
    if (result !== undefined) return result;
  }
  throw noSuchOverload(`_${operator}_`);
}

function integers(operator: string, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      if (right === 0n) throw new CelEvaluationError('division by zero');
      return left / right;
    case '%':
      if (right === 0n) throw new CelEvaluationError('modulus by zero');
      return left % right;
    default:
      throw noSuchOverload(`_${operator}_`);
  }
}

function doubles(operator: string, left: number, right: number): number {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    default:
      throw noSuchOverload(`_${operator}_`);
  }
}

function times(operator: '+' | '-', left: CelValue, right: CelValue): CelValue | undefined {
  const sign = operator === '+' ? 1n : -1n;
  if (left instanceof CelDuration && right instanceof CelDuration) {
    return new CelDuration(left.nanos + sign * right.nanos);
  }
  if (left instanceof CelTimestamp && right instanceof CelDuration) {
    return new CelTimestamp(left.nanos + sign * right.nanos);
  }
  if (operator === '+' && left instanceof CelDuration && right instanceof CelTimestamp) {
    return new CelTimestamp(left.nanos + right.nanos);
  }
  if (operator === '-' && left instanceof CelTimestamp && right instanceof CelTimestamp) {
    return new CelDuration(left.nanos - right.nanos);
  }
  return undefined;
}
