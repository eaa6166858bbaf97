import type { JsonSchema } from '../schema/json-schema.js';

/** kube-apiserver's limit for a request's body, which bounds every value that its schema does not. */
const maxRequestBytes = 3 * 1024 * 1024;

/** The most characters, items or entries that a value can have by its schema, as kube-apiserver estimates it. */
export function maxSizeOf(schema: JsonSchema): number {
  if (schema['x-kubernetes-int-or-string']) return maxRequestBytes - 2;
  switch (schema.type) {
    case 'string':
      return maxTextSize(schema);
    case 'array':
      return schema.maxItems ?? Math.floor((maxRequestBytes - 2) / (minJsonSize(schema.items ?? {}) + 1));
    case 'object': {
      const { additionalProperties, maxProperties } = schema;
      if (typeof additionalProperties !== 'object') return 0;
      return maxProperties ?? Math.floor((maxRequestBytes - 2) / (minJsonSize(additionalProperties) + 6));
    }
    case 'boolean':
    case 'integer':
    case 'number':
      return 1;
    default:
      return 0;
  }
}

/** How often a value of a schema can be in one request, where nothing else bounds it. */
export function maxOccurrences(schema: JsonSchema): number {
  return Math.floor(maxRequestBytes / (minJsonSize(schema) + 1));
}

const timeBytes = 32;
const dateBytes = 12;

function maxTextSize({ format, maxLength, enum: values = [] }: JsonSchema): number {
  if (format === 'duration' || format === 'date-time') return timeBytes;
  if (format === 'date') return dateBytes;
  // A character may take four bytes.
  if (maxLength !== undefined) return maxLength * (format === 'byte' ? 1 : 4);
  const texts = values.filter((value) => typeof value === 'string');
  if (texts.length > 0 && format !== 'byte') return Math.max(...texts.map((text) => Buffer.byteLength(text)));
  return maxRequestBytes - 2;
}

/** The fewest bytes of JSON that a value of a schema takes. */
function minJsonSize(schema: JsonSchema): number {
  if (schema['x-kubernetes-int-or-string']) return 1;
  switch (schema.type) {
    case 'boolean':
      return 4;
    case 'integer':
    case 'number':
      return 1;
    case 'string':
      return schema.format === 'date' ? dateBytes : (minTextSizes[schema.format ?? ''] ?? 2);
    case 'object':
      return minObjectSize(schema);
    default:
      return 2;
  }
}

const minTextSizes: Readonly<Record<string, number>> = { duration: 4, 'date-time': 22 };

function minObjectSize({ properties = {}, required = [], additionalProperties }: JsonSchema): number {
  if (typeof additionalProperties === 'object') return 2;
  const needed = Object.entries(properties).filter(
    ([name, property]) => required.includes(name) && property.default === undefined,
  );
  return needed.reduce((sum, [name, property]) => sum + name.length + minJsonSize(property) + 4, 2);
}
