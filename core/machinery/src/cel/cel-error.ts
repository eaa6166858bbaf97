/** An expression that cannot be compiled. The message reads as that of cel-go, with the place in the source below it. */
export class CelCompileError extends Error {
  override readonly name = 'CelCompileError';
}

/** An expression that has no value for what it was given: `no such key: b`, `index out of bounds: 5`. */
export class CelEvaluationError extends Error {
  override readonly name = 'CelEvaluationError';
}

/** An expression that was stopped because it cost too much. No operator of the language hides it. */
export class CelCostError extends Error {
  override readonly name = 'CelCostError';

  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

export function noSuchOverload(name: string): CelEvaluationError {
  return new CelEvaluationError(`no such overload: ${name}`);
}
