import type { Condition } from '../kinds/condition.js';
import type { KubernetesObject } from '../object.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { LabelSelectorObject } from '../selector/label-selector.js';
import { SchemaBuilder } from './schema-builder.js';

const text: JsonSchema = { type: 'string' };
const texts: JsonSchema = { type: 'array', items: text };
const integerOrString: JsonSchema = {
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
};

/** `80` or `http`, `2` or `25%`. */
export function intOrStringSchema(): SchemaBuilder<number | string> {
  return new SchemaBuilder<number | string>(integerOrString, 'required');
}

/** `500m`, `2Gi`, `1e3`, or a whole number: see `parseQuantity`. */
export const quantityPattern =
  '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$';

export function quantitySchema(): SchemaBuilder<number | string> {
  return new SchemaBuilder<number | string>({ ...integerOrString, pattern: quantityPattern }, 'required');
}

const labelSelectorJson: JsonSchema = {
  type: 'object',
  properties: {
    matchLabels: { type: 'object', additionalProperties: text },
    matchExpressions: {
      type: 'array',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: { key: text, operator: text, values: { ...texts, 'x-kubernetes-list-type': 'atomic' } },
      },
      'x-kubernetes-list-type': 'atomic',
    },
  },
  'x-kubernetes-map-type': 'atomic',
};

/** meta/v1 LabelSelector: see `labelSelectorOf`. */
export function labelSelectorSchema(): SchemaBuilder<LabelSelectorObject> {
  return new SchemaBuilder<LabelSelectorObject>(labelSelectorJson, 'required');
}

/** A whole object of any kind, with `apiVersion`, `kind` and `metadata`; the rest is kept as it is. */
export function embeddedResourceSchema<T extends KubernetesObject>(): SchemaBuilder<T> {
  return new SchemaBuilder<T>(
    { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    'required',
  );
}

/**
 * An object that is kept as it was written. `T` says what the program takes it for; nothing checks that: use it for parts of
 * other kinds (a pod's affinity), which the API server checks when they are used.
 */
export function anyFieldsSchema<T>(): SchemaBuilder<T> {
  return new SchemaBuilder<T>({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'required');
}

/** The bounds are those of `metav1.Condition`. */
const conditionJson: JsonSchema = {
  type: 'object',
  required: ['type', 'status'],
  properties: {
    type: { type: 'string', maxLength: 316 },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
    lastTransitionTime: { type: 'string', format: 'date-time' },
    reason: { type: 'string', maxLength: 1024 },
    message: { type: 'string', maxLength: 32768 },
  },
};

/** Conditions by their type. Optional: they are there once a controller has written them. */
export function conditionsSchema(): SchemaBuilder<readonly Condition[], readonly Condition[], 'optional'> {
  const json: JsonSchema = {
    type: 'array',
    items: conditionJson,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  };
  return new SchemaBuilder<readonly Condition[], readonly Condition[], 'optional'>(json, 'optional');
}

export function observedGenerationSchema(): SchemaBuilder<number, number, 'optional'> {
  const description = 'The generation of the spec that this status is about.';
  const json: JsonSchema = { type: 'integer', format: 'int64', description };
  return new SchemaBuilder<number, number, 'optional'>(json, 'optional');
}
