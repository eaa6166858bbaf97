import { addQuantities, compareQuantities, parseQuantity, type Quantity, quantityToNumber } from '../value/quantity.js';
import { CelEvaluationError } from './cel-error.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import type { CelObject, CelValue } from './value.js';

const typeName = 'kubernetes.Quantity';
const one = 10n ** 9n;

class CelQuantity implements CelObject {
  readonly celType = typeName;
  readonly quantity: Quantity;

  constructor(quantity: Quantity) {
    this.quantity = quantity;
  }

  equals(other: CelValue): boolean {
    return other instanceof CelQuantity && other.quantity.nano === this.quantity.nano;
  }
}

/** The quantities of Kubernetes: `quantity("1Gi").isGreaterThan(quantity("512Mi"))`. */
export const quantityFunctions: FunctionTable = {
  quantity: { signatures: [`quantity(string): ${typeName}`], run: ([text]) => onText(text, quantityOf) },
  isQuantity: {
    signatures: ['isQuantity(string): bool'],
    run: ([text]) =>
      onText(text, (written) => {
        try {
          parseQuantity(written);
          return true;
        } catch {
          return false;
        }
      }),
  },
  isGreaterThan: order('isGreaterThan', (sign) => sign > 0),
  isLessThan: order('isLessThan', (sign) => sign < 0),
  compareTo: {
    signatures: [`${typeName}.compareTo(${typeName}): int`],
    run: ([other], target) => onBoth(target, other, (left, right) => BigInt(compareQuantities(left, right))),
  },
  sign: on('sign(): int', ({ nano }) => (nano > 0n ? 1n : nano < 0n ? -1n : 0n)),
  isInteger: on('isInteger(): bool', ({ nano }) => nano % one === 0n),
  asInteger: on('asInteger(): int', ({ nano }) => {
    if (nano % one !== 0n) throw new CelEvaluationError('cannot convert value to integer');
    return nano / one;
  }),
  asApproximateFloat: on('asApproximateFloat(): double', quantityToNumber),
  add: sum('add', 1n),
  sub: sum('sub', -1n),
};

function quantityOf(text: string): CelQuantity {
  try {
    return new CelQuantity(parseQuantity(text));
  } catch (error) {
    throw new CelEvaluationError(error instanceof Error ? error.message : String(error));
  }
}

function onText<T>(value: CelValue | undefined, run: (text: string) => T): T | undefined {
  return typeof value === 'string' ? run(value) : undefined;
}

function onBoth<T>(
  left: CelValue | undefined,
  right: CelValue | undefined,
  run: (left: Quantity, right: Quantity) => T,
): T | undefined {
  return left instanceof CelQuantity && right instanceof CelQuantity ? run(left.quantity, right.quantity) : undefined;
}

function on(form: string, run: (quantity: Quantity) => CelValue): CelFunction {
  return {
    signatures: [`${typeName}.${form}`],
    run: (_, target) => (target instanceof CelQuantity ? run(target.quantity) : undefined),
  };
}

function order(name: string, holds: (sign: number) => boolean): CelFunction {
  return {
    signatures: [`${typeName}.${name}(${typeName}): bool`],
    run: ([other], target) => onBoth(target, other, (left, right) => holds(compareQuantities(left, right))),
  };
}

function sum(name: string, sign: bigint): CelFunction {
  return {
    signatures: [`${typeName}.${name}(${typeName}): ${typeName}`, `${typeName}.${name}(int): ${typeName}`],
    run: ([other], target) => {
      if (!(target instanceof CelQuantity)) return undefined;
      const added =
        typeof other === 'bigint' ? other * one : other instanceof CelQuantity ? other.quantity.nano : undefined;
      if (added === undefined) return undefined;
      return new CelQuantity(addQuantities(target.quantity, { ...target.quantity, nano: sign * added }));
    },
  };
}
