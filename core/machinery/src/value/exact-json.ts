import { isRecord } from './record.js';

/**
 * JSON whose integers of 64 bits stay what they are. One that a `number` cannot hold exactly (beyond 2^53) is a `bigint`
 * here; all others are numbers, so that code that knows nothing of it is right for all but those. See
 * docs/decisions/0007-integers-of-64-bits.md.
 */
const longLiteral = /[0-9]{16}/;

/** Parses JSON. As fast as JSON.parse where no number is long. @throws SyntaxError */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return longLiteral.test(text) ? new Reader(text).value() : value;
}

const backslash = 0x5c;
const leastLong = -(2n ** 63n);
const greatestLong = 2n ** 63n - 1n;

/** The value of a number as it is written; one that is no integer of 64 bits is what JSON.parse makes of it. */
export function numberOf(literal: string): number | bigint {
  const number = Number(literal);
  if (Number.isSafeInteger(number) || !/^-?[0-9]+$/.test(literal)) return number;
  const exact = BigInt(literal);
  return exact >= leastLong && exact <= greatestLong ? exact : number;
}

/** Reads a text that is known to be JSON, and not nested deeper than the stack is. */
class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
    switch (this.#next()) {
      case '{':
        return this.#object();
      case '[':
        return this.#list();
      case '"':
        return this.#string();
      default: {
        const begin = this.#at;
        while (/[-+.0-9a-zA-Z]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
        const word = this.#text.slice(begin, this.#at);
        return /^[-0-9]/.test(word) ? numberOf(word) : JSON.parse(word);
      }
    }
  }

  #object(): unknown {
    const members: (readonly [string, unknown])[] = [];
    for (this.#at += 1; this.#next() !== '}'; ) {
      const name = this.#string();
      this.#next();
      this.#at += 1;
      members.push([name, this.value()]);
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
    return Object.fromEntries(members);
  }

  #list(): unknown {
    const items: unknown[] = [];
    for (this.#at += 1; this.#next() !== ']'; ) {
      items.push(this.value());
      if (this.#next() === ',') this.#at += 1;
    }
    this.#at += 1;
    return items;
  }

  #string(): string {
    const begin = this.#at;
    let end = this.#text.indexOf('"', begin + 1);
    while (this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    this.#at = end + 1;
    return String(JSON.parse(this.#text.slice(begin, end + 1)));
  }

  #isEscaped(at: number): boolean {
    let escapes = 0;
    while (this.#text.charCodeAt(at - 1 - escapes) === backslash) escapes += 1;
    return escapes % 2 === 1;
  }

  /** The first character that is no white space. */
  #next(): string {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
    return this.#text[this.#at] ?? '';
  }
}

/** Writes JSON. As fast as JSON.stringify where there is no `bigint`, which that refuses. */
export function exactJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // Cycles are a TypeError, too: there are none in JSON.
    if (!(error instanceof TypeError)) throw error;
    return written(value);
  }
}

function written(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${written(member)}`).join(',')}}`;
}
