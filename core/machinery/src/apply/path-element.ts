import { canonicalJson } from '../value/canonical-json.js';
import { parseExactJson } from '../value/exact-json.js';
import { isRecord, ownValue } from '../value/record.js';
import type { FieldTypes } from './field-types.js';

export function fieldElement(name: string): string {
  return `f:${name}`;
}

/** Finds the path element of an item of a list of type `set` or `map`. */
export type ItemIdentity = (item: unknown) => string;

/** How the items of a list are told apart; `undefined` where the list is one value. */
export function itemIdentity(types: FieldTypes): ItemIdentity | undefined {
  const { list } = types;
  if (list === 'atomic') return undefined;
  if (list === 'set') return (item) => `v:${canonicalJson(item)}`;
  return (item) => {
    const keys = list.keys.map((key) => {
      const value = isRecord(item) ? ownValue(item, key.name) : undefined;
      return [key.name, value ?? key.default ?? null] as const;
    });
    return `k:${canonicalJson(Object.fromEntries(keys))}`;
  };
}

/** A place as messages name it: `.spec.items[name="x"].v`. */
export function formatPath(path: readonly string[]): string {
  return path.map(formatElement).join('');
}

function formatElement(element: string): string {
  const rest = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'k:': {
      const keys = parseExactJson(rest);
      const parts = isRecord(keys) ? Object.entries(keys).map(([key, value]) => `${key}=${canonicalJson(value)}`) : [];
      return `[${parts.join(',')}]`;
    }
    case 'v:':
      return `[=${rest}]`;
    case 'i:':
      return `[${rest}]`;
    default:
      return `.${rest}`;
  }
}
