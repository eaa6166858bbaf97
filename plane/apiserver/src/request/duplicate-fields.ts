import { badRequest } from '../errors.js';

/** Far deeper than any schema, and far from where the stack of those who read the object ends. */
const maxDepth = 1000;

/**
 * The fields that a JSON text names twice in one object, as paths in the order of the text; `JSON.parse` keeps the last
 * one and says nothing. The text must be valid JSON. Fails with 400 when it is nested too deeply.
 */
export function duplicateFields(text: string): readonly string[] {
  const scanner = new Scanner(text);
  scanner.value('');
  return scanner.duplicates;
}

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;

class Scanner {
  readonly duplicates: string[] = [];
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(path: string): void {
    this.#skipSpace();
    switch (this.#text.charCodeAt(this.#at)) {
      case openBrace:
        this.#within(() => this.#object(path));
        return;
      case openBracket:
        this.#within(() => this.#array(path));
        return;
      case quote:
        this.#string();
        return;
      default:
        this.#scalar();
    }
  }

  #within(read: () => void): void {
    this.#depth += 1;
    if (this.#depth > maxDepth)
      throw badRequest(`exceeded max depth: more than ${maxDepth} objects and lists in one another`);
    read();
    this.#depth -= 1;
  }

  #object(path: string): void {
    const names = new Set<string>();
    this.#at += 1;
    for (;;) {
      this.#skipSpace();
      if (this.#text.charCodeAt(this.#at) !== quote) break;
      const name = this.#string();
      const own = path === '' ? name : `${path}.${name}`;
      if (names.has(name)) this.duplicates.push(own);
      names.add(name);
      this.#skipSpace();
      // The colon.
      this.#at += 1;
      this.value(own);
      if (!this.#isAfterComma()) break;
    }
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#at) === closeBrace) this.#at += 1;
  }

  #array(path: string): void {
    this.#at += 1;
    this.#skipSpace();
    for (let index = 0; this.#text.charCodeAt(this.#at) !== closeBracket; index += 1) {
      this.value(`${path}[${index}]`);
      if (!this.#isAfterComma()) break;
    }
    this.#at += 1;
  }

  #isAfterComma(): boolean {
    this.#skipSpace();
    if (this.#text.charCodeAt(this.#at) !== comma) return false;
    this.#at += 1;
    return true;
  }

  #string(): string {
    const start = this.#at;
    let isEscaped = false;
    for (this.#at += 1; this.#at < this.#text.length; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quote) break;
      if (code !== backslash) continue;
      isEscaped = true;
      this.#at += 1;
    }
    this.#at += 1;
    const raw = this.#text.slice(start + 1, this.#at - 1);
    return isEscaped ? String(JSON.parse(`"${raw}"`)) : raw;
  }

  #scalar(): void {
    while (this.#at < this.#text.length && !isEnd(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

function isEnd(code: number): boolean {
  return code === comma || code === closeBrace || code === closeBracket || isSpace(code);
}
