import type { CelBudget } from './budget.js';
import type { CelValue } from './value.js';

/** One function of a library. */
export interface CelFunction {
  /**
   * The forms that expressions may use, in the notation of cel-js: `string.charAt(int): string`. Those that the language
   * has itself are declared by the parser's own table: none here.
   */
  readonly signatures?: readonly string[];
  /** `target` is what it was called on; undefined for a function. No result: the arguments are of no form that it has. */
  run(parameters: readonly CelValue[], target: CelValue | undefined, budget: CelBudget): CelValue | undefined;
  /** Units beyond what looking at the arguments once costs. */
  cost?(parameters: readonly CelValue[], target: CelValue | undefined): number;
}

export type FunctionTable = Readonly<Record<string, CelFunction>>;
