import { exactJson, numberOf } from '@castellan/machinery';
import { isScalar, Lexer, LineCounter, parseDocument, visit } from 'yaml';
import { assertShallow, deepest, tooDeep } from './json-text.js';
import { aliasProblem, yamlProblem } from './yaml-problem.js';

export interface YamlText {
  readonly value: unknown;
  /** One text that names all keys that are there twice, as Go's YAML reader does; none where there is none. */
  readonly problems: readonly string[];
}

/** The text is no YAML: `yaml: line 2: …`, in the words of Go's reader. */
export class YamlSyntaxError extends Error {
  override readonly name = 'YamlSyntaxError';
}

/** Parses YAML as Go's reader does: version 1.1, where a bare `y` is a boolean. Throws `YamlSyntaxError`. */
export function parseYamlText(text: string): YamlText {
  try {
    return parse(text);
  } catch (error) {
    // Nesting without end, aliases without end: the reader gives up.
    if (!(error instanceof RangeError || error instanceof ReferenceError)) throw error;
    throw new YamlSyntaxError(`yaml: ${aliasProblem(error.message)}`);
  }
}

function parse(text: string): YamlText {
  assertShallowYaml(text);
  const lines = new LineCounter();
  const options = { uniqueKeys: false, version: '1.1', merge: false, lineCounter: lines } as const;
  const document = parseDocument(text, options);
  const [error] = document.errors;
  if (error !== undefined) throw new YamlSyntaxError(`yaml: ${yamlProblem(error, text)}`);
  const repeated: string[] = [];
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === 'number' && node.source !== undefined) node.value = exactly(node.value, node.source);
    },
    Map(_, { items }) {
      const keys = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        const { line } = lines.linePos(key.range?.[0] ?? 0);
        if (keys.has(key.value)) repeated.push(`  line ${line}: key ${JSON.stringify(key.value)} already set in map`);
        keys.add(key.value);
      }
    },
  });
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  assertShallow(exactJson(value) ?? '');
  return { value, problems: repeated.length === 0 ? [] : [`yaml: unmarshal errors:\n${repeated.join('\n')}`] };
}

/** A number that has lost digits, as it was written. */
function exactly(number: number, source: string): number | bigint {
  return Number.isSafeInteger(number) || !/^-?[1-9][0-9]*$/.test(source) ? number : numberOf(source);
}

/**
 * Throws where a text is nested so deeply that its parser, which recurses, would end the process. In brackets each
 * level has one; outside of them each level begins further to the right than the one around it.
 */
function assertShallowYaml(text: string): void {
  let brackets = 0;
  let column = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') brackets += 1;
    else if (lexeme === ']' || lexeme === '}') brackets -= 1;
    const isBlock = brackets === 0 && (lexeme === '-' || lexeme === '?' || lexeme === ':');
    if (brackets > deepest || (isBlock && column > 2 * deepest)) throw tooDeep();
    const lineEnd = lexeme.lastIndexOf('\n');
    column = lineEnd < 0 ? column + lexeme.length : lexeme.length - lineEnd - 1;
  }
}
