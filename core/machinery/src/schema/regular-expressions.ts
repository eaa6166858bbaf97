/** Regular expressions in Go's syntax (RE2). */
export interface RegularExpressions {
  /** @throws Error in Go's words: "error parsing regexp: missing closing ): `(a`". */
  compile(pattern: string): RegularExpression;
}

/** Takes time in proportion to the text, whatever the pattern. */
export interface RegularExpression {
  test(text: string): boolean;
  /** What matches, from the left, without overlap; all of it where `most` is negative. */
  find(text: string, most: number): readonly string[];
}

let loading: Promise<void> | undefined;
let loaded: RegularExpressions | undefined;

/** Loads the engine, which costs some milliseconds and megabytes: once, by the first schema or rule that needs it. */
export function loadRegularExpressions(): Promise<void> {
  loading ??= import('re2js').then(({ RE2JS }) => {
    const known = new Map<string, RegularExpression>();
    const compile = (pattern: string): RegularExpression => {
      const re2 = RE2JS.compile(pattern);
      return {
        test: (text) => re2.matcher(text).find(),
        find: (text, most) => {
          const matcher = re2.matcher(text);
          const found: string[] = [];
          while ((most < 0 || found.length < most) && matcher.find()) found.push(matcher.group() ?? '');
          return found;
        },
      };
    };
    loaded = { compile: (pattern) => remember(known, pattern, compile) };
  });
  return loading;
}

/** The engine once it is loaded; else undefined. */
export function regularExpressions(): RegularExpressions | undefined {
  return loaded;
}

/** @throws Error before `loadRegularExpressions` has resolved. */
export function loadedRegularExpressions(): RegularExpressions {
  if (loaded === undefined)
    throw new Error('regular expressions are used before loadRegularExpressions() has resolved');
  return loaded;
}

const mostRemembered = 1000;

function remember(
  known: Map<string, RegularExpression>,
  pattern: string,
  compile: (pattern: string) => RegularExpression,
): RegularExpression {
  const before = known.get(pattern);
  if (before !== undefined) return before;
  const expression = compile(pattern);
  if (known.size >= mostRemembered) known.clear();
  known.set(pattern, expression);
  return expression;
}
