import { parseExactJson, type StatusError } from '@castellan/machinery';
import { badRequest } from '../errors.js';

/** Deeper than any object that makes sense; what walks over objects later may count on it. */
export const deepest = 500;
const mostDuplicates = 100;

/** A JSON text as a value, with what the value cannot show of the text. */
export interface JsonText {
  readonly value: unknown;
  /** `metadata.name`: fields that an object of the text has more than once; the last of them counts. */
  readonly duplicates: readonly string[];
}

/** Parses JSON. Throws SyntaxError where it is none, and StatusError 400 where it is nested too deeply. */
export function parseJsonText(text: string): JsonText {
  assertShallow(text);
  const value: unknown = JSON.parse(text);
  // Most clients write as JSON.stringify does: then nothing of the text is lost in the value.
  if (JSON.stringify(value) === text.trimEnd()) return { value, duplicates: [] };
  return { value: parseExactJson(text), duplicates: new DuplicateScan(text).run() };
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;

/** Throws StatusError 400 where a JSON text is nested too deeply. */
export function assertShallow(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    // [ and {, which differ from ] and } by two.
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > deepest) throw tooDeep();
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
}

/** 400 for a body that is nested more than `deepest` levels deep. */
export function tooDeep(): StatusError {
  return badRequest(`the body is nested more than ${deepest} levels deep`);
}

/** The index of the quote that ends the string that begins at `at`; the end of the text where there is none. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}

interface Level {
  /** The fields seen so far; undefined in a list. */
  readonly fields: Set<string> | undefined;
  readonly path: string;
  /** Of the present item of a list. */
  index: number;
  /** The present field of an object; undefined until its name has been read. */
  field: string | undefined;
}

/** Goes over a text that is known to be JSON, and finds the fields that are there twice. */
class DuplicateScan {
  readonly #text: string;
  readonly #levels: Level[] = [];
  readonly #found = new Set<string>();

  constructor(text: string) {
    this.#text = text;
  }

  run(): readonly string[] {
    const text = this.#text;
    for (let at = 0; at < text.length; at += 1) {
      const level = this.#levels.at(-1);
      switch (text.charCodeAt(at)) {
        case quote: {
          const end = endOfString(text, at);
          if (level?.fields !== undefined && level.field === undefined) this.#enter(level, at, end);
          at = end;
          break;
        }
        case 0x7b:
          this.#levels.push({ fields: new Set(), path: pathAt(level), index: 0, field: undefined });
          break;
        case 0x5b:
          this.#levels.push({ fields: undefined, path: pathAt(level), index: 0, field: undefined });
          break;
        case 0x5d:
        case 0x7d:
          this.#levels.pop();
          break;
        case comma:
          if (level !== undefined) {
            level.index += 1;
            level.field = undefined;
          }
          break;
      }
    }
    return [...this.#found];
  }

  #enter(level: Level, begin: number, end: number): void {
    const raw = this.#text.slice(begin, end + 1);
    const name = raw.includes('\\') ? String(JSON.parse(raw)) : raw.slice(1, -1);
    level.field = name;
    if (level.fields?.has(name) && this.#found.size < mostDuplicates) this.#found.add(pathAt(level));
    level.fields?.add(name);
  }
}

function pathAt(level: Level | undefined): string {
  if (level === undefined) return '';
  if (level.fields === undefined) return `${level.path}[${level.index}]`;
  return level.path === '' ? (level.field ?? '') : `${level.path}.${level.field}`;
}
