import { regularExpressions } from './regular-expressions.js';

/**
 * Compiles a regular expression of a schema: by RE2 where that is loaded (`loadEnginesFor`), which takes time in
 * proportion to the text whatever the pattern. Else by JavaScript's own engine: what differs from Go's syntax and is used
 * in schemas is translated, and a bad pattern may take exponential time.
 *
 * @throws Error whose message reads as Go's where the mistake is a common one.
 */
export function compilePattern(pattern: string): { test(text: string): boolean } {
  const re2 = regularExpressions();
  return re2 === undefined ? compileNatively(pattern) : re2.compile(pattern);
}

function compileNatively(pattern: string): RegExp {
  const { source, flags } = translate(pattern);
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // With the flag `u` needless escapes such as `\-` and `\_` are errors; in Go they are not.
    try {
      return new RegExp(source, flags);
    } catch (error) {
      throw new Error(`error parsing regexp: ${goReason(pattern, error)}`, { cause: error });
    }
  }
}

const posixClasses: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  digit: '0-9',
  lower: 'a-z',
  upper: 'A-Z',
  space: '\\t\\n\\v\\f\\r ',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

function translate(pattern: string): { readonly source: string; readonly flags: string } {
  const leading = /^\(\?([ims]+)\)/.exec(pattern);
  const source = pattern
    .slice(leading?.[0].length ?? 0)
    .replace(/\(\?P</g, '(?<')
    .replace(/\[:([a-z]+):\]/g, (whole, name: string) => posixClasses[name] ?? whole)
    .replace(/\\([\s\S])/g, (sequence, character: string) => {
      if (character === 'A') return '(?<![\\s\\S])';
      if (character === 'z') return '(?![\\s\\S])';
      return sequence;
    });
  return { source, flags: leading?.[1] ?? '' };
}

function goReason(pattern: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const quoted = `\`${pattern}\``;
  if (/unterminated group/i.test(reason)) return `missing closing ): ${quoted}`;
  if (/unmatched '\)'/i.test(reason)) return `unexpected ): ${quoted}`;
  if (/unterminated character class/i.test(reason)) return `missing closing ]: ${quoted}`;
  if (/nothing to repeat/i.test(reason)) return `missing argument to repetition operator: ${quoted}`;
  return `${reason.replace(/^Invalid regular expression: /, '')}: ${quoted}`;
}
