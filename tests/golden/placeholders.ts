/** What each kind of placeholder may stand for, as a regular expression. */
const shapes = {
  uid: '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}',
  rv: '\\d+',
  listrv: '\\d+',
  rand: '[a-z0-9]{5}',
  time: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ',
  microtime: '\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3,9}Z',
  continue: '[A-Za-z0-9+/=_-]+',
  ip: '[0-9a-f.:]+',
  nodeport: '\\d+',
  hash: '[0-9A-Fa-f]+',
  etag: '"?[^"]+"?',
  token: '[\\w-]+\\.[\\w-]+\\.[\\w-]+',
  server: '[^/\\s]+',
  any: '[\\s\\S]*',
  num: '\\d+',
} as const satisfies Readonly<Record<string, string>>;

const placeholder = new RegExp(`<(${Object.keys(shapes).join('|')})(?::(\\d+))?>`, 'g');

/** Kinds that a reply may also write as a number. */
const numeric = /^<(rv|nodeport|num)\b/;

/** What the numbered placeholders of one conversation stand for, as its replies show it. */
export class Placeholders {
  readonly #values = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** Why `actual` is not what was recorded; undefined when it is. */
  mismatch(recorded: string, actual: unknown): string | undefined {
    const text = typeof actual === 'number' && numeric.test(recorded) ? String(actual) : actual;
    if (text === recorded) return undefined;
    const differs = `expected ${JSON.stringify(recorded)}, got ${brief(actual)}`;
    const found = [...recorded.matchAll(placeholder)];
    if (typeof text !== 'string' || found.length === 0) return differs;
    const values = pattern(recorded, found).exec(text);
    if (values === null) return differs;
    for (const [index, [, kind = '', number]] of found.entries()) {
      const problem = number === undefined ? undefined : this.#bind(kind, number, values[index + 1] ?? '');
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  #bind(kind: string, number: string, value: string): string | undefined {
    const name = `<${kind}:${number}>`;
    const known = this.#values.get(name);
    if (known !== undefined) return known === value ? undefined : `${name} was ${known} before and is ${value} now`;
    const other = this.#names.get(`${kind} ${value}`);
    if (other !== undefined) return `${value} is ${other}, but was recorded as a value of its own, ${name}`;
    const reversed = kind === 'rv' ? this.#reversed(Number(number), BigInt(value)) : undefined;
    if (reversed !== undefined) return `${name} is ${value}, which is out of order with ${reversed}`;
    this.#values.set(name, value);
    this.#names.set(`${kind} ${value}`, name);
    return undefined;
  }

  /** A resourceVersion that stands on the wrong side of this one. */
  #reversed(rank: number, revision: bigint): string | undefined {
    for (const [name, value] of this.#values) {
      const other = /^<rv:(\d+)>$/.exec(name)?.[1];
      if (other !== undefined && Number(other) < rank !== BigInt(value) < revision) return `${name}, ${value}`;
    }
    return undefined;
  }
}

function pattern(recorded: string, found: readonly RegExpExecArray[]): RegExp {
  let source = '^';
  let end = 0;
  for (const match of found) {
    source += `${literal(recorded.slice(end, match.index))}(${shapes[match[1] as keyof typeof shapes]})`;
    end = match.index + match[0].length;
  }
  return new RegExp(`${source}${literal(recorded.slice(end))}$`);
}

function literal(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** A value as reports show it. */
export function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 160 ? `${text.slice(0, 160)}…` : text;
}
