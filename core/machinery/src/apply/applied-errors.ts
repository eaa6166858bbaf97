import { kindOf } from '../schema/value-kind.js';
import { exactJson } from '../value/exact-json.js';
import { isList, isRecord, ownValue } from '../value/record.js';
import type { FieldTypes } from './field-types.js';
import { fieldElement, formatPath, itemIdentity } from './path-element.js';

/** What of an applied object does not fit its types, in kube-apiserver's words. Nulls fit everywhere. */
export function appliedErrors(value: unknown, types: FieldTypes, path: readonly string[] = []): readonly string[] {
  if (value === null || value === undefined) return [];
  const mismatch = typeMismatch(value, types.scalar);
  if (mismatch !== undefined) return [`${formatPath(path)}: ${mismatch}`];
  if (isRecord(value)) {
    return Object.entries(value).flatMap(([name, child]) => {
      const below = [...path, fieldElement(name)];
      const childTypes = types.field(name);
      if (childTypes === undefined) return [`${formatPath(below)}: field not declared in schema`];
      return appliedErrors(child, childTypes, below);
    });
  }
  return isList(value) ? listErrors(value, types, path) : [];
}

/** Types for which Go's type checker has a value of its own; numbers it takes as they come. */
const goNames: Readonly<Record<string, string>> = {
  string: 'string',
  boolean: 'boolean',
  integer: 'numeric (int or float)',
  number: 'numeric (int or float)',
  object: 'map',
  array: 'list',
};

function typeMismatch(value: unknown, wanted: string): string | undefined {
  const kind = kindOf(value);
  const fits = wanted === '' || kind === wanted || (wanted === 'number' && kind === 'integer');
  if (fits || (wanted === 'integer' && kind === 'number')) return undefined;
  return `expected ${goNames[wanted] ?? wanted}, got &value.valueUnstructured{Value:${goLiteral(value)}}`;
}

function goLiteral(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value)
    : String(typeof value === 'object' ? exactJson(value) : value);
}

function listErrors(list: readonly unknown[], types: FieldTypes, path: readonly string[]): readonly string[] {
  const identify = itemIdentity(types);
  if (identify === undefined) {
    return list.flatMap((item, index) => appliedErrors(item, types.items, [...path, `i:${index}`]));
  }
  const errors: string[] = [];
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const missing = missingKey(item, types);
    if (missing !== undefined) {
      errors.push(
        `${formatPath(path)}: element ${index}: associative list with keys has an element that omits key field "${missing}" (and doesn't have default value)`,
      );
      continue;
    }
    const element = identify(item);
    if (seen.has(element)) errors.push(`${formatPath(path)}: duplicate entries for key ${formatPath([element])}`);
    seen.add(element);
    errors.push(...appliedErrors(item, types.items, [...path, element]));
  }
  return errors;
}

function missingKey(item: unknown, { list }: FieldTypes): string | undefined {
  if (typeof list === 'string' || !isRecord(item)) return undefined;
  return list.keys.find((key) => key.default === undefined && ownValue(item, key.name) === undefined)?.name;
}
