import { isDeepStrictEqual } from 'node:util';
import { brief, type Placeholders } from './placeholders.js';
import { escaped, valueAt } from './pointer.js';
import type { RecordedReply, Step, Tolerance } from './transcript.js';
import type { Reply } from './wire.js';

/** Compared in every reply: their absence counts as well. */
const significantHeaders = ['content-type', 'warning', 'retry-after', 'location'];

/** In what a reply differs from the recorded one: `where: what`, one line each. */
export function differences(
  recorded: RecordedReply,
  reply: Reply,
  { tolerate = [] }: Step,
  placeholders: Placeholders,
): readonly string[] {
  const comparison = new Comparison(placeholders, tolerate);
  if (recorded.status !== reply.status) {
    const said = valueAt(reply.body, '/message');
    const message = said === undefined ? '' : ` (${said})`;
    comparison.found.push(`status: expected ${recorded.status}, got ${reply.status}${message}`);
  }
  const headers = recorded.headers ?? {};
  for (const name of new Set([...significantHeaders, ...Object.keys(headers)])) {
    comparison.optional(headers[name], reply.headers[name], `header ${name}`);
  }
  if (recorded.select !== undefined) {
    for (const [pointer, expected] of Object.entries(recorded.select)) {
      comparison.value(expected, asJson(valueAt(reply.body, pointer)), pointer);
    }
  } else if (Object.hasOwn(recorded, 'body')) {
    comparison.value(recorded.body, reply.body, '');
  }
  if (recorded.ended !== undefined && recorded.ended !== reply.ended) {
    comparison.found.push(`stream: was recorded as ended by ${recorded.ended}, was ended by ${reply.ended}`);
  }
  return comparison.found;
}

/** As a recording holds it: no value is null, within a list too. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

class Comparison {
  readonly found: string[] = [];
  readonly #placeholders: Placeholders;
  readonly #tolerate: readonly Tolerance[];

  constructor(placeholders: Placeholders, tolerate: readonly Tolerance[]) {
    this.#placeholders = placeholders;
    this.#tolerate = tolerate;
  }

  value(expected: unknown, actual: unknown, pointer: string): void {
    const how = this.#how(pointer);
    if (how === 'any' || (how === 'present' && actual !== undefined)) return;
    if (how === 'unorderedText' && typeof expected === 'string' && typeof actual === 'string') {
      if (!isDeepStrictEqual(words(expected), words(actual))) this.#differ(pointer, expected, actual);
    } else if (typeof expected === 'string') {
      const problem = this.#placeholders.mismatch(expected, actual);
      if (problem !== undefined) this.found.push(`${pointer}: ${problem}`);
    } else if (Array.isArray(expected) && Array.isArray(actual)) {
      if (how === 'unordered') this.#list(inOrder(expected), inOrder(actual), pointer);
      else this.#list(expected, actual, pointer);
    } else if (isObject(expected) && isObject(actual)) {
      this.#object(expected, actual, pointer);
    } else if (expected !== actual) {
      this.#differ(pointer, expected, actual);
    }
  }

  /** A header or member that may be absent on either side. */
  optional(expected: unknown, actual: unknown, pointer: string): void {
    if (expected === undefined && actual === undefined) return;
    if (expected !== undefined && actual !== undefined) this.value(expected, actual, pointer);
    else if (this.#how(pointer) === 'any') return;
    else if (expected === undefined) this.found.push(`${pointer}: not expected, got ${brief(actual)}`);
    else this.found.push(`${pointer}: missing, expected ${brief(expected)}`);
  }

  #list(expected: readonly unknown[], actual: readonly unknown[], pointer: string): void {
    if (expected.length !== actual.length) {
      this.found.push(`${pointer}: expected ${expected.length} elements, got ${actual.length}: ${brief(actual)}`);
    }
    const common = Math.min(expected.length, actual.length);
    for (let index = 0; index < common; index += 1) this.value(expected[index], actual[index], `${pointer}/${index}`);
  }

  #object(expected: JsonObject, actual: JsonObject, pointer: string): void {
    const isSuperset = this.#how(pointer) === 'superset';
    for (const key of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      if (isSuperset && !Object.hasOwn(expected, key)) continue;
      this.optional(expected[key], actual[key], `${pointer}/${escaped(key)}`);
    }
  }

  #how(pointer: string): Tolerance['how'] | undefined {
    const parts = pointer.split('/');
    const rule = this.#tolerate.find((candidate) => {
      const wanted = candidate.pointer.split('/');
      return wanted.length === parts.length && wanted.every((part, index) => part === '*' || part === parts[index]);
    });
    // The real server orders these by time in whole seconds: chance, within one second.
    return rule?.how ?? (pointer.endsWith('/managedFields') ? 'unordered' : undefined);
  }

  #differ(pointer: string, expected: unknown, actual: unknown): void {
    this.found.push(`${pointer}: expected ${brief(expected)}, got ${brief(actual)}`);
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function words(text: string): readonly string[] {
  return text
    .split(/[,[\]]+\s*/)
    .map((word) => word.trim())
    .filter((word) => word !== '')
    .sort();
}

const identifying = ['manager', 'operation', 'apiVersion', 'subresource', 'name', 'field', 'type'];

/** Elements by what they are called, so that both sides of an unordered list stand side by side. */
function inOrder(list: readonly unknown[]): readonly unknown[] {
  const keyed = list.map((element) => ({ element, key: identityOf(element) }));
  return keyed
    .sort((left, right) => (left.key < right.key ? -1 : left.key > right.key ? 1 : 0))
    .map(({ element }) => element);
}

function identityOf(element: unknown): string {
  const names = isObject(element) ? identifying.map((name) => String(element[name] ?? '')) : [];
  return [...names, JSON.stringify(element)].join(' ');
}
