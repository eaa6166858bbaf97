/** The parts of an expression that was read and checked, as `@marcbachmann/cel-js` describes them. */
export interface Expression {
  readonly op: string;
  readonly args: unknown;
  /** Offsets in the source. */
  readonly start: number;
  readonly end: number;
}

export function isExpression(value: unknown): value is Expression {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
}

/** The operands of an expression that are expressions themselves. */
function operandsOf(expression: Expression): readonly Expression[] {
  return expressionsIn(expression.args);
}

function expressionsIn(args: unknown): readonly Expression[] {
  if (isExpression(args)) return [args];
  return Array.isArray(args) ? args.flatMap(expressionsIn) : [];
}

/** The arguments of an operator as a list, whose members the caller knows. */
export function listOf(args: unknown): readonly unknown[] {
  return Array.isArray(args) ? args : [args];
}

export function operand(args: unknown, index: number): Expression {
  const found = listOf(args)[index];
  if (!isExpression(found)) throw new TypeError(`operand ${index} is no expression`);
  return found;
}

/** Whether the variable `name` is read anywhere in it. */
export function mentions(expression: Expression, name: string): boolean {
  if (expression.op === 'id') return expression.args === name;
  return operandsOf(expression).some((each) => mentions(each, name));
}
