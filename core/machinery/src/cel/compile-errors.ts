import { isExpression, listOf } from './expression.js';

/** What cel-js says of a mistake. */
interface Mistake {
  readonly code: string;
  readonly summary: string;
  readonly range: { readonly start: number; readonly end: number } | undefined;
  readonly node: unknown;
}

const operatorNames: Readonly<Record<string, string>> = { '!': '!_', in: '@in' };

/** An expression that cannot be read, in the words of cel-go. */
export function syntaxErrorText(source: string, error: unknown): string {
  const { summary, range } = mistakeOf(error);
  const at = range?.start ?? 0;
  if (at >= source.length) {
    return located(source, source.length, `Syntax error: mismatched input '<EOF>' expecting ${expectedTokens}`);
  }
  return located(source, at, `Syntax error: ${summary}`);
}

const expectedTokens =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** An expression whose types do not fit, in the words of cel-go. */
export function compileErrorText(
  source: string,
  error: unknown,
  { isFunction }: { readonly isFunction: (name: string) => boolean },
): string {
  const mistake = mistakeOf(error);
  const { code, summary } = mistake;
  const start = mistake.range?.start ?? 0;
  const [, name = ''] = /: (\S+)$/.exec(summary) ?? [];
  switch (code) {
    case 'no_such_key':
      return located(source, start - 1, `undefined field '${name}'`);
    case 'unknown_variable':
      return located(source, start, `undeclared reference to '${name}' (in container '')`);
    case 'no_such_overload':
      return located(source, operatorPlace(source, mistake), operatorText(summary));
    case 'no_matching_overload':
      return located(source, callPlace(source, mistake), callText(summary, isFunction));
    case 'cannot_index_type':
      return located(source, start - 1, selectionText(summary));
    case 'invalid_condition_type': {
      const [, type] = /^(?:all|exists)\(.* got '(.*)'/.exec(summary) ?? [];
      const isLoop = type !== undefined;
      return located(source, start, isLoop ? `expected type 'bool' but found '${shownType(type)}'` : summary);
    }
    case 'invalid_logical_operand': {
      const [, type = ''] = /got '(.*)'/.exec(summary) ?? [];
      return located(source, start, `expected type 'bool' but found '${shownType(type)}'`);
    }
    case 'invalid_macro_argument':
      return located(source, start, summary.startsWith('has()') ? 'invalid argument to has() macro' : summary);
    default:
      return located(source, start, summary);
  }
}

/** `no such overload: int == string` */
function operatorText(summary: string): string {
  const [, left, between = '', right = ''] = /: (.+?) (-|==|!=|<=?|>=?|[+*/%]|in) (.+)$/.exec(summary) ?? [];
  if (left !== undefined) return overloadText(operatorNames[between] ?? `_${between}_`, [left, right]);
  const [, before = '', operand = ''] = /: (!|-)(.+)$/.exec(summary) ?? [];
  return overloadText(operatorNames[before] ?? `${before}_`, [operand]);
}

/** `Cannot index type 'string'` */
function selectionText(summary: string): string {
  const [, type = ''] = /'(.*?)'/.exec(summary) ?? [];
  return `type '${shownType(type)}' does not support field selection`;
}

/** `found no matching overload for 'string.startsWith(int)'` */
function callText(summary: string, isFunction: (name: string) => boolean): string {
  const [, whole = ''] = /'(.*)'/.exec(summary) ?? [];
  const open = whole.indexOf('(');
  const [head, given] = [whole.slice(0, open), whole.slice(open + 1, -1)];
  const dot = head.lastIndexOf('.');
  const name = head.slice(dot + 1);
  if (!isFunction(name)) return `undeclared reference to '${name}' (in container '')`;
  const parameters = given === '' ? [] : given.split(/, (?![^<]*>)/);
  if (dot < 0) return overloadText(head, parameters);
  return overloadText(name, parameters, head.slice(0, dot));
}

function overloadText(name: string, parameters: readonly string[], target?: string): string {
  const types = parameters.map(shownType).join(', ');
  const applied = target === undefined ? `(${types})` : `${shownType(target)}.(${types})`;
  return `found no matching overload for '${name}' applied to '${applied}'`;
}

function shownType(type: string): string {
  return type
    .replace(/\bobject\d+\b/g, 'object')
    .replace(/</g, '(')
    .replace(/>/g, ')');
}

/** Where the operator stands: behind the first operand. */
function operatorPlace(source: string, { node, range }: Mistake): number {
  const [left, right] = isExpression(node) ? listOf(node.args) : [];
  if (!isExpression(left) || !isExpression(right)) return range?.start ?? 0;
  const space = /^[\s)]*/.exec(source.slice(left.end))?.[0].length ?? 0;
  return left.end + space;
}

/** Where the parenthesis of the call stands. */
function callPlace(source: string, { node, range }: Mistake): number {
  const start = range?.start ?? 0;
  if (!isExpression(node)) return start;
  const receiver = node.op === 'rcall' ? listOf(node.args)[1] : undefined;
  const open = source.indexOf('(', isExpression(receiver) ? receiver.end : start);
  return open < 0 ? start : open;
}

function located(source: string, offset: number, text: string): string {
  const lines = source.slice(0, Math.max(0, offset)).split('\n');
  const column = lines.at(-1)?.length ?? 0;
  const line = source.split('\n')[lines.length - 1] ?? '';
  return `ERROR: <input>:${lines.length}:${column + 1}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
}

function mistakeOf(error: unknown): Mistake {
  const { code, summary, range, node } = Object(error);
  return {
    code: String(code),
    summary: summary === undefined ? String(error) : String(summary),
    range,
    node,
  };
}
