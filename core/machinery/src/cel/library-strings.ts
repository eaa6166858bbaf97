import { loadedRegularExpressions } from '../schema/regular-expressions.js';
import { CelEvaluationError } from './cel-error.js';
import { formatText } from './format-text.js';
import type { CelFunction, FunctionTable } from './function-table.js';
import { type CelValue, isCelList } from './value.js';

/** The string functions of cel-go and of Kubernetes. Positions count code points. */
export const stringFunctions: FunctionTable = {
  charAt: on('charAt(int): string', (text, [at]) => {
    const characters = [...text];
    const index = Number(at);
    if (index < 0 || index > characters.length) throw new CelEvaluationError(`index out of range: ${index}`);
    return characters[index] ?? '';
  }),
  indexOf: on(['indexOf(string): int', 'indexOf(string, int): int'], (text, [wanted, from]) =>
    typeof wanted === 'string' ? BigInt(text.indexOf(wanted, Number(from ?? 0))) : undefined,
  ),
  lastIndexOf: on(['lastIndexOf(string): int', 'lastIndexOf(string, int): int'], (text, [wanted, from]) =>
    typeof wanted === 'string'
      ? BigInt(text.lastIndexOf(wanted, from === undefined ? text.length : Number(from)))
      : undefined,
  ),
  lowerAscii: on('lowerAscii(): string', (text) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())),
  upperAscii: on('upperAscii(): string', (text) => text.replace(/[a-z]+/g, (part) => part.toUpperCase())),
  trim: on('trim(): string', (text) => text.trim()),
  reverse: on('reverse(): string', (text) => [...text].reverse().join('')),
  replace: on(['replace(string, string): string', 'replace(string, string, int): string'], (text, [old, next, most]) =>
    typeof old === 'string' && typeof next === 'string' ? replaced(text, old, next, Number(most ?? -1)) : undefined,
  ),
  split: on(['split(string): list<string>', 'split(string, int): list<string>'], (text, [separator, most]) =>
    typeof separator === 'string' ? splitAt(text, separator, Number(most ?? -1)) : undefined,
  ),
  substring: on(['substring(int): string', 'substring(int, int): string'], (text, [from, to]) => {
    const characters = [...text];
    const [start, end] = [Number(from), to === undefined ? characters.length : Number(to)];
    if (start < 0 || end > characters.length || start > end) {
      throw new CelEvaluationError(`invalid substring range. start: ${start}, end: ${end}`);
    }
    return characters.slice(start, end).join('');
  }),
  join: {
    signatures: ['list<string>.join(): string', 'list<string>.join(string): string'],
    run: ([separator], list) =>
      list !== undefined && isCelList(list) ? list.join(typeof separator === 'string' ? separator : '') : undefined,
  },
  format: {
    signatures: ['string.format(list<dyn>): string'],
    run: ([values], text) =>
      typeof text === 'string' && values !== undefined && isCelList(values) ? formatText(text, values) : undefined,
  },
  'strings.quote': {
    signatures: ['CelStrings.quote(string): string'],
    run: ([text]) => (typeof text === 'string' ? JSON.stringify(text) : undefined),
  },
  matches: {
    // The forms are the language's own.
    run: ([pattern], text) => matches(text, pattern),
    cost: costOfPattern,
  },
  find: on('find(string): string', (text, [pattern]) => allMatches(text, pattern, 1)?.[0] ?? '', costOfPattern),
  findAll: on(
    ['findAll(string): list<string>', 'findAll(string, int): list<string>'],
    (text, [pattern, most]) => allMatches(text, pattern, Number(most ?? -1)),
    costOfPattern,
  ),
};

function on(
  forms: string | readonly string[],
  run: (text: string, parameters: readonly CelValue[]) => CelValue | undefined,
  cost?: CelFunction['cost'],
): CelFunction {
  return {
    signatures: [forms].flat().map((form) => `string.${form}`),
    run: (parameters, target) => (typeof target === 'string' ? run(target, parameters) : undefined),
    ...(cost === undefined ? {} : { cost }),
  };
}

/** RE2 looks at each character once for each state of the pattern. */
function costOfPattern([pattern]: readonly CelValue[], text: CelValue | undefined): number {
  if (typeof pattern !== 'string' || typeof text !== 'string') return 0;
  return (text.length + 1) * 0.1 * Math.max(1, pattern.length * 0.25);
}

function matches(text: CelValue | undefined, pattern: CelValue | undefined): boolean | undefined {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  return compiled(pattern).test(text);
}

function allMatches(text: string, pattern: CelValue | undefined, most: number): readonly string[] | undefined {
  return typeof pattern === 'string' ? compiled(pattern).find(text, most) : undefined;
}

function compiled(pattern: string) {
  try {
    return loadedRegularExpressions().compile(pattern);
  } catch (error) {
    throw new CelEvaluationError(error instanceof Error ? error.message : String(error));
  }
}

function replaced(text: string, old: string, next: string, most: number): string {
  if (most < 0) return text.replaceAll(old, () => next);
  let result = text;
  let from = 0;
  for (let count = 0; count < most; count += 1) {
    const at = result.indexOf(old, from);
    if (at < 0) break;
    result = result.slice(0, at) + next + result.slice(at + old.length);
    from = at + next.length;
  }
  return result;
}

function splitAt(text: string, separator: string, most: number): readonly string[] {
  const parts = separator === '' ? [...text] : text.split(separator);
  if (most === 0) return [];
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(separator)];
}
