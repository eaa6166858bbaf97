import { exactJson } from './exact-json.js';
import { isRecord } from './record.js';

/** JSON with sorted keys: equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isRecord(value)) return exactJson(value) ?? 'null';
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(',')}}`;
}

/** As Go's `encoding/json` writes it, which besides escapes what HTML would read as markup. */
export function goJson(value: unknown): string {
  return escapedForHtml(canonicalJson(value));
}

/** The same with fields in the order that they have: as Go writes structures. */
export function goJsonInOrder(value: unknown): string {
  return escapedForHtml(exactJson(value) ?? 'null');
}

function escapedForHtml(json: string): string {
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
