import { CelEvaluationError } from './cel-error.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import type { CelObject, CelValue } from './value.js';

const typeName = 'kubernetes.Semver';
const number = '(?:0|[1-9]\\d{0,15})';
const syntax = new RegExp(
  `^(${number})\\.(${number})\\.(${number})(?:-([0-9A-Za-z.-]{1,256}))?(?:\\+[0-9A-Za-z.-]{1,256})?$`,
);

class CelSemver implements CelObject {
  readonly celType = typeName;
  readonly numbers: readonly number[];
  readonly prerelease: readonly string[];

  constructor(text: string) {
    const match = syntax.exec(text);
    if (match === null) throw new CelEvaluationError(`semver parse error: ${JSON.stringify(text)} is no version`);
    this.numbers = match.slice(1, 4).map(Number);
    this.prerelease = match[4]?.split('.') ?? [];
  }

  equals(other: CelValue): boolean {
    return other instanceof CelSemver && this.order(other) === 0;
  }

  order(other: CelSemver): number {
    for (const [index, each] of this.numbers.entries()) {
      const difference = each - (other.numbers[index] ?? 0);
      if (difference !== 0) return Math.sign(difference);
    }
    if (this.prerelease.length === 0 || other.prerelease.length === 0) {
      return Number(this.prerelease.length === 0) - Number(other.prerelease.length === 0);
    }
    return orderOfPrereleases(this.prerelease, other.prerelease);
  }
}

/** Semantic versions, as Kubernetes has them in its expressions. */
export const semverFunctions: FunctionTable = {
  semver: {
    signatures: [`semver(string): ${typeName}`],
    run: ([text]) => (typeof text === 'string' ? new CelSemver(text) : undefined),
  },
  isSemver: {
    signatures: ['isSemver(string): bool'],
    run: ([text]) => (typeof text === 'string' ? syntax.test(text) : undefined),
  },
  major: part('major', 0),
  minor: part('minor', 1),
  patch: part('patch', 2),
  isGreaterThan: order('isGreaterThan(kubernetes.Semver): bool', (sign) => sign > 0),
  isLessThan: order('isLessThan(kubernetes.Semver): bool', (sign) => sign < 0),
  compareTo: order('compareTo(kubernetes.Semver): int', (sign) => BigInt(sign)),
};

function part(name: string, index: number): CelFunction {
  return {
    signatures: [`${typeName}.${name}(): int`],
    run: (_, target) => (target instanceof CelSemver ? BigInt(target.numbers[index] ?? 0) : undefined),
  };
}

function order(form: string, run: (sign: number) => CelValue): CelFunction {
  return {
    signatures: [`${typeName}.${form}`],
    run: ([other], target) =>
      target instanceof CelSemver && other instanceof CelSemver ? run(target.order(other)) : undefined,
  };
}

/** Numbers come before words and by their size; of two, one that begins as the other and goes on is later. */
function orderOfPrereleases(one: readonly string[], other: readonly string[]): number {
  for (const [index, left] of one.entries()) {
    const right = other[index];
    if (right === undefined) return 1;
    if (left === right) continue;
    const [leftNumber, rightNumber] = [/^\d+$/.test(left), /^\d+$/.test(right)];
    if (leftNumber && rightNumber) return Math.sign(Number(left) - Number(right));
    if (leftNumber !== rightNumber) return leftNumber ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return one.length < other.length ? -1 : 0;
}
