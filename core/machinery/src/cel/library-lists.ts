import { CelEvaluationError } from './cel-error.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import { applyBinary, compare } from './operators.js';
import { type CelValue, celEquals, isCelList } from './value.js';

/** The list functions of Kubernetes and the sets of cel-go. */
export const listFunctions: FunctionTable = {
  isSorted: onList(['list<V>.isSorted(): bool'], (list) =>
    list.every((item, index) => index === 0 || compare('<', list[index - 1] ?? null, item) <= 0),
  ),
  sum: onList(
    [
      'list<int>.sum(): int',
      'list<double>.sum(): double',
      'list<google.protobuf.Duration>.sum(): google.protobuf.Duration',
      'list<dyn>.sum(): dyn',
    ],
    (list) => list.slice(1).reduce((sum, item) => applyBinary('+', sum, item), list[0] ?? 0n),
  ),
  min: onList(['list<V>.min(): V'], (list) => extreme('min', list, -1)),
  max: onList(['list<V>.max(): V'], (list) => extreme('max', list, 1)),
  indexOf: {
    signatures: ['list<V>.indexOf(V): int'],
    run: ([wanted], list) =>
      isList(list) && wanted !== undefined ? BigInt(list.findIndex((item) => celEquals(item, wanted))) : undefined,
  },
  lastIndexOf: {
    signatures: ['list<V>.lastIndexOf(V): int'],
    run: ([wanted], list) =>
      isList(list) && wanted !== undefined
        ? BigInt(list.map((item) => celEquals(item, wanted)).lastIndexOf(true))
        : undefined,
  },
  slice: {
    signatures: ['list<V>.slice(int, int): list<V>'],
    run: ([from, to], list) => (isList(list) ? list.slice(Number(from), Number(to)) : undefined),
  },
  distinct: {
    signatures: ['list<V>.distinct(): list<V>'],
    cost: (_, list) => (isList(list) ? list.length ** 2 : 0),
    run: (_, list) =>
      isList(list)
        ? list.filter((item, index) => list.findIndex((other) => celEquals(other, item)) === index)
        : undefined,
  },
  reverse: onList(['list<V>.reverse(): list<V>'], (list) => [...list].reverse()),
  sort: onList(['list<V>.sort(): list<V>'], (list) => [...list].sort((one, other) => compare('<', one, other))),
  flatten: onList(['list<dyn>.flatten(): list<dyn>'], (list) => list.flatMap((item) => (isList(item) ? item : [item]))),
  includes: {
    signatures: ['list<V>.includes(V): bool'],
    run: ([wanted], list) => (isList(list) && wanted !== undefined ? contains(list, wanted) : undefined),
  },
  'sets.contains': onSets('contains', (all, some) => some.every((item) => contains(all, item))),
  'sets.equivalent': onSets(
    'equivalent',
    (one, other) => one.every((item) => contains(other, item)) && other.every((item) => contains(one, item)),
  ),
  'sets.intersects': onSets('intersects', (one, other) => one.some((item) => contains(other, item))),
};

function contains(list: readonly CelValue[], wanted: CelValue): boolean {
  return list.some((item) => celEquals(item, wanted));
}

function isList(value: CelValue | undefined): value is readonly CelValue[] {
  return value !== undefined && isCelList(value);
}

function onList(signatures: readonly string[], run: (list: readonly CelValue[]) => CelValue): CelFunction {
  return { signatures, run: (_, target) => (isList(target) ? run(target) : undefined) };
}

function onSets(name: string, run: (one: readonly CelValue[], other: readonly CelValue[]) => boolean): CelFunction {
  return {
    signatures: [`CelSets.${name}(list<V>, list<V>): bool`],
    cost: ([one, other]) => (isList(one) && isList(other) ? one.length * other.length : 0),
    run: ([one, other]) => (isList(one) && isList(other) ? run(one, other) : undefined),
  };
}

function extreme(name: string, list: readonly CelValue[], sign: number): CelValue {
  const [first, ...rest] = list;
  if (first === undefined) throw new CelEvaluationError(`${name} called on empty list`);
  return rest.reduce((best, item) => (compare('<', item, best) * sign > 0 ? item : best), first);
}
