import { CelEvaluationError } from './cel-error.js';
import type { FunctionTable } from './function-table.js';
import { CelOptional } from './value.js';

/** `optional.of(x)`, `a.?b.orValue(c)`; their forms are known to the parser. */
export const optionalFunctions: FunctionTable = {
  'optional.of': { run: ([value]) => new CelOptional(value) },
  'optional.none': { run: () => new CelOptional(undefined) },
  'optional.ofNonZeroValue': {
    run: ([value]) => {
      const isZero =
        value === null || value === 0 || value === 0n || value === '' || value === false || isEmptyList(value);
      return new CelOptional(isZero ? undefined : value);
    },
  },
  hasValue: { run: (_, target) => (target instanceof CelOptional ? target.value !== undefined : undefined) },
  value: {
    run: (_, target) => {
      if (!(target instanceof CelOptional)) return undefined;
      if (target.value === undefined) throw new CelEvaluationError('optional.none() dereference');
      return target.value;
    },
  },
  or: {
    run: ([other], target) => {
      if (!(target instanceof CelOptional)) return undefined;
      return target.value === undefined ? other : target;
    },
  },
  orValue: {
    run: ([other], target) => (target instanceof CelOptional ? (target.value ?? other) : undefined),
  },
};

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
