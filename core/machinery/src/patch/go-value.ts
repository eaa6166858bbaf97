import { isList, isRecord } from '../value/record.js';

/** A JSON value as Go's `%v` prints it, for messages that quote one: `map[image:x name:yy]`. */
export function goValue(value: unknown): string {
  if (isList(value)) return `[${value.map(goValue).join(' ')}]`;
  if (isRecord(value)) {
    const members = Object.keys(value).sort();
    return `map[${members.map((key) => `${key}:${goValue(value[key])}`).join(' ')}]`;
  }
  return value === null || value === undefined ? '<nil>' : String(value);
}
