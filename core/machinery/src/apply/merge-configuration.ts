import { isList, isRecord, type JsonRecord } from '../value/record.js';
import { appliedErrors } from './applied-errors.js';
import type { FieldTypes } from './field-types.js';
import { mergeApplied } from './merge-applied.js';
import { fieldElement, formatPath } from './path-element.js';

/** A configuration that cannot be merged. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/**
 * `live` with all that an apply configuration says, as mutating admission policies merge it: nobody owns what it sets, and
 * nothing is taken away. Lists and objects that are one value may not be set, lest what they do not say gets lost.
 *
 * @throws ConfigurationError in the words of kube-apiserver
 */
export function mergeConfiguration(live: JsonRecord, configuration: JsonRecord, types: FieldTypes): JsonRecord {
  const errors = appliedErrors(configuration, types);
  if (errors.length > 0) {
    const all = errors.length === 1 ? errors[0] : `errors:\n${errors.map((error) => `  ${error}`).join('\n')}`;
    throw new ConfigurationError(`failed to convert patch object to typed object: ${all}`);
  }
  const atomics = atomicPaths(configuration, types, []);
  if (atomics.length > 0) {
    const which = `may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`;
    throw new ConfigurationError(`invalid ApplyConfiguration: ${which}`);
  }
  const merged = mergeApplied(live, configuration, types);
  return isRecord(merged) ? merged : live;
}

function atomicPaths(value: unknown, types: FieldTypes, path: readonly string[]): readonly string[] {
  if (isRecord(value)) {
    const below = Object.entries(value).flatMap(([name, child]) => {
      const childTypes = types.field(name);
      return childTypes === undefined ? [] : atomicPaths(child, childTypes, [...path, fieldElement(name)]);
    });
    return types.isAtomicObject ? [formatPath(path), ...below] : below;
  }
  if (!isList(value)) return [];
  const below = value.flatMap((item, index) => atomicPaths(item, types.items, [...path, `i:${index}`]));
  return types.list === 'atomic' ? [formatPath(path), ...below] : below;
}
