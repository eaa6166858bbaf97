import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema } from '../schema/json-schema.js';
import { formatFieldError } from '../validation/field-error.js';
import { checkStructural } from './check-structural.js';

/** The errors of a schema, `@` being its own path. */
function errorsOf(schema: JsonSchema): readonly string[] {
  return checkStructural(schema, '@').map(formatFieldError);
}

/** The errors of a schema with this one for the field `spec.a`, whose path becomes `a`. */
function errorsOfField(a: JsonSchema): readonly string[] {
  const schema: JsonSchema = { type: 'object', properties: { spec: { type: 'object', properties: { a } } } };
  return errorsOf(schema).map((text) => text.replaceAll('@.properties[spec].properties[a]', 'a'));
}

test('a schema as operators have them is good', () => {
  assert.deepEqual(
    errorsOf({
      type: 'object',
      required: ['spec'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 40 } } },
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer', minimum: 1, maximum: 7, default: 3 },
            pod: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
            labels: { type: 'object', additionalProperties: { type: 'string' } },
          },
          oneOf: [{ required: ['size'] }, { properties: { port: { minimum: 1 } } }],
        },
        status: { type: 'object', additionalProperties: false },
      },
    }),
    [],
  );
});

test('what is not structural is refused in the words of kube-apiserver', () => {
  const examples: readonly (readonly [JsonSchema, ...string[]])[] = [
    [{}, 'a.type: Required value: must not be empty for specified object fields'],
    [{ type: 'array' }, 'a.items: Required value: must be specified'],
    [{ type: 'array', items: {} }, 'a.items.type: Required value: must not be empty for specified array items'],
    [{ type: 'string', allOf: [{ type: 'string' }] }, 'a.allOf[0].type: Forbidden: must be empty to be structural'],
    [
      { type: 'object', properties: { x: { type: 'string' } }, additionalProperties: { type: 'string' } },
      'a.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ],
    [
      { type: 'odd' },
      'a.type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", "object", "string"',
    ],
    [
      { type: 'array', uniqueItems: true, items: { type: 'string' } },
      'a.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
    [
      { type: 'string', pattern: '(' },
      'a.pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
    [{ $ref: '#/x' }, 'a.$ref: Forbidden: $ref is not supported'],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        items: { type: 'object', properties: { k: { type: 'string' } } },
      },
      'a.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    [
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { type: 'object', properties: { k: { type: 'string' } } },
      },
      'a.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
    [
      { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'object' } },
      'a.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
    [{ type: 'string', default: 5 }, 'a.default: Invalid value: "integer":  in body must be of type string: "integer"'],
    [
      { type: 'integer', minimum: 5, default: 1 },
      'a.default: Invalid value: 1:  in body should be greater than or equal to 5',
    ],
    [
      { type: 'object', properties: {}, default: { x: 1 } },
      'a.default: Invalid value: {"x":1}: must not have unknown fields',
    ],
    [{ type: 'string', not: { default: 'x' } }, 'a.not.default: Forbidden: must be undefined to be structural'],
    [
      { 'x-kubernetes-embedded-resource': true },
      'a.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      'a.type: Required value: must be object if x-kubernetes-embedded-resource is true',
    ],
    [
      { type: 'object', properties: {}, anyOf: [{ properties: { x: { minimum: 1 } } }] },
      'a.properties[x]: Required value: because it is defined in a.anyOf[0].properties[x]',
    ],
  ];
  for (const [schema, ...errors] of examples) assert.deepEqual(errorsOfField(schema), errors, JSON.stringify(schema));
});

test('the root is an object whose metadata is left alone', () => {
  assert.deepEqual(errorsOf({ type: 'string' }), ['@.type: Invalid value: "string": must be object at the root']);
  assert.deepEqual(errorsOf({ properties: { spec: { properties: { a: {} } } } }), [
    '@.properties[spec].properties[a].type: Required value: must not be empty for specified object fields',
    '@.properties[spec].type: Required value: must not be empty for specified object fields',
    '@.type: Required value: must not be empty at the root',
  ]);
  assert.deepEqual(
    errorsOf({
      type: 'object',
      properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
    }),
    [
      '@.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  );
});

test('the path of the schema is that of a definition with one version', () => {
  assert.equal(checkStructural({ type: 'string' })[0]?.field, 'spec.validation.openAPIV3Schema.type');
});

test('a schema that uses what it may not is still judged as structural, unless it cannot be read as such', () => {
  assert.deepEqual(errorsOf({ type: 'object', properties: { a: {}, b: { type: 'odd' }, c: { type: 'array' } } }), [
    '@.properties[b].type: Unsupported value: "odd": supported values: "array", "boolean", "integer", "number", "object", "string"',
    '@.properties[a].type: Required value: must not be empty for specified object fields',
    '@.properties[c].items: Required value: must be specified',
  ]);
  const referring: JsonSchema = { type: 'object', properties: { a: {}, b: Object.assign({}, { $ref: '#/a' }) } };
  assert.deepEqual(errorsOf(referring), ['@.properties[b].$ref: Forbidden: $ref is not supported']);
});
