import { isRecord, list } from '../json.js';

/** One step of a JSONPath: a field, an element, every child, or the elements that a filter lets through. */
type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'every' }
  | { readonly type: 'filter'; readonly path: JsonPath; readonly operator: string; readonly operand: unknown };

export type JsonPath = readonly Step[];

/**
 * The JSONPath of printer columns: `.status.conditions[?(@.type=="Ready")].status`, `.spec['a.b']`, `.items[*].name`,
 * `.list[-1]`. `undefined` when it cannot be parsed. Source: kubectl's JSONPath reference.
 */
export function parseJsonPath(text: string): JsonPath | undefined {
  const steps: Step[] = [];
  let rest = text
    .trim()
    .replace(/^\{(.*)\}$/, '$1')
    .replace(/^[$@]/, '');
  while (rest !== '') {
    const parsed = parseStep(rest);
    if (parsed === undefined) return undefined;
    if (parsed.step !== undefined) steps.push(parsed.step);
    rest = rest.slice(parsed.length);
  }
  return steps;
}

export function evaluateJsonPath(path: JsonPath, root: unknown): readonly unknown[] {
  let values: readonly unknown[] = [root];
  for (const step of path) values = values.flatMap((value) => evaluateStep(step, value));
  return values;
}

function parseStep(text: string): { readonly step?: Step; readonly length: number } | undefined {
  const field = /^\.?([A-Za-z0-9_$\-/]+(?:\\.[A-Za-z0-9_$\-/]+)*)/.exec(text);
  if (field?.[1] !== undefined && text.startsWith('.')) {
    return { step: { type: 'field', name: field[1].replaceAll('\\', '') }, length: field[0].length };
  }
  const wildcard = /^(\.\*|\[\*\])/.exec(text);
  if (wildcard !== null) return { step: { type: 'every' }, length: wildcard[0].length };
  const quoted = /^\[(?:'([^']*)'|"([^"]*)")\]/.exec(text);
  if (quoted !== null) {
    return { step: { type: 'field', name: quoted[1] ?? quoted[2] ?? '' }, length: quoted[0].length };
  }
  const index = /^\[(-?\d+)\]/.exec(text);
  if (index?.[1] !== undefined) return { step: { type: 'index', index: Number(index[1]) }, length: index[0].length };
  const filter = /^\[\?\(\s*@([^=!<>)\s]+)\s*(?:(==|!=|<=|>=|<|>)\s*([^)]+?)\s*)?\)\]/.exec(text);
  if (filter?.[1] !== undefined) {
    const path = parseJsonPath(filter[1]);
    if (path === undefined) return undefined;
    const step = {
      type: 'filter',
      path,
      operator: filter[2] ?? 'exists',
      operand: parseOperand(filter[3] ?? ''),
    } as const;
    return { step, length: filter[0].length };
  }
  return text === '.' ? { length: 1 } : undefined;
}

function parseOperand(text: string): unknown {
  const quoted = /^(['"])(.*)\1$/.exec(text);
  if (quoted !== null) return quoted[2];
  if (text === 'true') return true;
  if (text === 'false') return false;
  const number = Number(text);
  return text === '' || Number.isNaN(number) ? text : number;
}

function evaluateStep(step: Step, value: unknown): readonly unknown[] {
  switch (step.type) {
    case 'field':
      return isRecord(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'index': {
      const element = list(value).at(step.index);
      return element === undefined ? [] : [element];
    }
    case 'every':
      return isRecord(value) ? Object.values(value) : list(value);
    case 'filter':
      return list(value).filter((element) => passes(step, element));
  }
}

function passes(step: Extract<Step, { type: 'filter' }>, element: unknown): boolean {
  const [found] = evaluateJsonPath(step.path, element);
  const { operator, operand } = step;
  if (operator === 'exists') return found !== undefined;
  if (operator === '==') return found === operand;
  if (operator === '!=') return found !== operand;
  if (typeof found !== 'number' || typeof operand !== 'number') return false;
  if (operator === '<') return found < operand;
  if (operator === '>') return found > operand;
  return operator === '<=' ? found <= operand : found >= operand;
}
