import type { FieldError } from '../validation/field-error.js';
import { annotationErrors, labelErrors } from '../validation/labels.js';
import { isRecord, ownValue } from '../value/record.js';
import { childPath } from './check.js';
import type { JsonSchema } from './json-schema.js';

/** What is wrong with the metadata of resources embedded in `value` (`x-kubernetes-embedded-resource`). */
export function embeddedMetadataErrors(schema: JsonSchema, value: unknown): readonly FieldError[] {
  return hasEmbedded(schema) ? errorsWithin(schema, value, '') : [];
}

const known = new WeakMap<JsonSchema, boolean>();

/** Remembered, as most schemas have none and should not be walked for it. */
function hasEmbedded(schema: JsonSchema): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const { additionalProperties, items } = schema;
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
  const found = schema['x-kubernetes-embedded-resource'] === true || children.some(hasEmbedded);
  known.set(schema, found);
  return found;
}

function errorsWithin(schema: JsonSchema, value: unknown, path: string): readonly FieldError[] {
  if (!hasEmbedded(schema)) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? [] : value.flatMap((item, index) => errorsWithin(items, item, `${path}[${index}]`));
  }
  if (!isRecord(value)) return [];
  const errors: FieldError[] = [];
  if (schema['x-kubernetes-embedded-resource']) {
    errors.push(...metadataErrors(ownValue(value, 'metadata'), childPath(path, 'metadata')));
  }
  for (const [name, child] of Object.entries(value)) {
    const { additionalProperties } = schema;
    const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const childSchema = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : others;
    if (childSchema !== undefined) errors.push(...errorsWithin(childSchema, child, childPath(path, name)));
  }
  return errors;
}

function metadataErrors(metadata: unknown, path: string): readonly FieldError[] {
  if (!isRecord(metadata)) return [];
  const labels = ownValue(metadata, 'labels');
  const annotations = ownValue(metadata, 'annotations');
  return [
    ...labelErrors(isRecord(labels) ? labels : {}, childPath(path, 'labels')),
    ...annotationErrors(isRecord(annotations) ? annotations : {}, childPath(path, 'annotations')),
  ];
}
