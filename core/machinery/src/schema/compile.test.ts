import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatFieldError } from '../validation/field-error.js';
import { compileSchema } from './compile.js';
import type { JsonSchema } from './json-schema.js';

/** What is wrong with `{ spec }`, by a schema of the spec's properties. */
function errorsOf(properties: Record<string, JsonSchema>, spec: unknown, more: JsonSchema = {}): readonly string[] {
  const schema = compileSchema({ type: 'object', properties: { spec: { type: 'object', properties, ...more } } });
  return schema
    .validate({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec })
    .map(formatFieldError);
}

test('numbers are held to their type and bounds, in the words of kube-apiserver', () => {
  const size: JsonSchema = { type: 'integer', minimum: 1, maximum: 7 };
  assert.deepEqual(errorsOf({ size }, { size: 3 }), []);
  assert.deepEqual(errorsOf({ size }, { size: 8 }), [
    'spec.size: Invalid value: 8: spec.size in body should be less than or equal to 7',
  ]);
  assert.deepEqual(errorsOf({ size }, { size: 0 }), [
    'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
  ]);
  assert.deepEqual(errorsOf({ size }, { size: 'three' }), [
    'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
  ]);
  assert.deepEqual(errorsOf({ size }, { size: 2.5 }), [
    'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"',
  ]);
  assert.deepEqual(errorsOf({ a: { type: 'number', minimum: 1, exclusiveMinimum: true } }, { a: 1 }), [
    'spec.a: Invalid value: 1: spec.a in body should be greater than 1',
  ]);
  assert.deepEqual(errorsOf({ a: { type: 'number', maximum: 1, exclusiveMaximum: true } }, { a: 1 }), [
    'spec.a: Invalid value: 1: spec.a in body should be less than 1',
  ]);
  assert.deepEqual(errorsOf({ a: { type: 'integer', multipleOf: 2 } }, { a: 3 }), [
    'spec.a: Invalid value: 3: spec.a in body should be a multiple of 2',
  ]);
  assert.deepEqual(errorsOf({ a: { type: 'number' } }, { a: 3 }), []);
  assert.deepEqual(errorsOf({ a: { type: 'integer', format: 'int32' } }, { a: 2 ** 31 }), [
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.a',
  ]);
});

test('strings are held to length, pattern and format', () => {
  const a: JsonSchema = { type: 'string', minLength: 2, maxLength: 3, pattern: '^a' };
  assert.deepEqual(errorsOf({ a }, { a: 'aé😀' }), []);
  assert.deepEqual(errorsOf({ a }, { a: 'abcd' }), ['spec.a: Too long: may not be more than 3 bytes']);
  assert.deepEqual(errorsOf({ a }, { a: 'a' }), [
    'spec.a: Invalid value: "a": spec.a in body should be at least 2 chars long',
  ]);
  assert.deepEqual(
    errorsOf({ l: { type: 'array', items: { type: 'string', pattern: '^a' } } }, { l: ['AAA', 'a', 'BBB'] }),
    [
      'spec.l[0]: Invalid value: "AAA": spec.l[0] in body should match \'^a\'',
      'spec.l[2]: Invalid value: "BBB": spec.l[2] in body should match \'^a\'',
    ],
  );
  assert.deepEqual(errorsOf({ t: { type: 'string', format: 'date-time' } }, { t: '2020-13-01T00:00:00Z' }), [
    'spec.t: Invalid value: "2020-13-01T00:00:00Z": spec.t in body must be of type date-time: "2020-13-01T00:00:00Z"',
  ]);
  assert.deepEqual(errorsOf({ t: { type: 'string', format: 'no-such-format' } }, { t: 'x' }), []);
});

test('required fields, enumerations and sizes are held', () => {
  assert.deepEqual(errorsOf({ version: { type: 'string' } }, {}, { required: ['version'] }), [
    'spec.version: Required value',
  ]);
  assert.deepEqual(errorsOf({ v: { type: 'string', enum: ['a', 'b'] } }, { v: 'x' }), [
    'spec.v: Unsupported value: "x": supported values: "a", "b"',
  ]);
  assert.deepEqual(errorsOf({ v: { type: 'integer', enum: [1, 2] } }, { v: 3 }), [
    'spec.v: Unsupported value: 3: supported values: "1", "2"',
  ]);
  const l: JsonSchema = { type: 'array', minItems: 1, maxItems: 2, items: { type: 'integer' } };
  assert.deepEqual(errorsOf({ l }, { l: [] }), [
    'spec.l: Invalid value: 0: spec.l in body should have at least 1 items',
  ]);
  assert.deepEqual(errorsOf({ l }, { l: [1, 2, 3] }), ['spec.l: Too many: 3: must have at most 2 items']);
  const m: JsonSchema = {
    type: 'object',
    minProperties: 1,
    maxProperties: 1,
    additionalProperties: { type: 'integer' },
  };
  assert.deepEqual(errorsOf({ m }, { m: {} }), [
    'spec.m: Invalid value: 0: spec.m in body should have at least 1 properties',
  ]);
  assert.deepEqual(errorsOf({ m }, { m: { a: 1, b: 2 } }), ['spec.m: Too many: 2: must have at most 1 item']);
  assert.deepEqual(errorsOf({ m }, { m: { a: 'x' } }), [
    'spec.m.a: Invalid value: "string": spec.m.a in body must be of type integer: "string"',
  ]);
});

test('null is a value only where the schema says nullable', () => {
  assert.deepEqual(errorsOf({ a: { type: 'string', nullable: true } }, { a: null }), []);
  assert.deepEqual(errorsOf({ a: { type: 'string' } }, { a: null }), [
    'spec.a: Invalid value: "null": spec.a in body must be of type string: "null"',
  ]);
});

test('int-or-string takes both and nothing else', () => {
  const ios: JsonSchema = { 'x-kubernetes-int-or-string': true, maxLength: 3 };
  assert.deepEqual(errorsOf({ ios }, { ios: 5 }), []);
  assert.deepEqual(errorsOf({ ios }, { ios: '50%' }), []);
  assert.deepEqual(errorsOf({ ios }, { ios: '50000%' }), ['spec.ios: Too long: may not be more than 3 bytes']);
  assert.deepEqual(errorsOf({ ios }, { ios: true }), [
    'spec.ios: Invalid value: "boolean": spec.ios in body must be of type integer,string: "boolean"',
  ]);
});

test('lists of type set and map have no two items with one key', () => {
  const set: JsonSchema = { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' };
  assert.deepEqual(errorsOf({ set }, { set: ['a', 'b', 'a'] }), ['spec.set[2]: Duplicate value: "a"']);
  const map: JsonSchema = {
    type: 'array',
    items: { type: 'object', properties: { k: { type: 'string' }, v: { type: 'string' } } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  };
  assert.deepEqual(errorsOf({ map }, { map: [{ k: 'a', v: '1' }, { k: 'b' }] }), []);
  assert.deepEqual(errorsOf({ map }, { map: [{ k: 'a', v: '1' }, { k: 'a' }] }), [
    'spec.map[1]: Duplicate value: {"k":"a"}',
  ]);
});

test('combinators report themselves and what their closest branch objects to', () => {
  const branches: JsonSchema[] = [{ required: ['a'] }, { required: ['b', 'c'] }];
  const properties: Record<string, JsonSchema> = {
    a: { type: 'string' },
    b: { type: 'string' },
    c: { type: 'string' },
  };
  assert.deepEqual(errorsOf(properties, {}, { oneOf: branches }), [
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found none valid',
    'spec.a: Required value',
  ]);
  assert.deepEqual(errorsOf(properties, { a: '', b: '', c: '' }, { oneOf: branches }), [
    '<nil>: Invalid value: "": "spec" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ]);
  assert.deepEqual(errorsOf(properties, { b: '' }, { anyOf: branches }), [
    '<nil>: Invalid value: "": "spec" must validate at least one schema (anyOf)',
    'spec.a: Required value',
  ]);
  assert.deepEqual(errorsOf(properties, {}, { allOf: [{ required: ['a'] }] }), [
    'spec.a: Required value',
    '<nil>: Invalid value: "": "spec" must validate all the schemas (allOf). None validated',
  ]);
  assert.deepEqual(errorsOf(properties, { a: '' }, { not: { required: ['a'] } }), [
    '<nil>: Invalid value: "": "spec" must not validate the schema (not)',
  ]);
});

test('an embedded resource has apiVersion, kind and sound labels', () => {
  const tpl: JsonSchema = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  };
  assert.deepEqual(errorsOf({ tpl }, { tpl: { apiVersion: 'v1' } }), ['spec.tpl.kind: Required value']);
  assert.deepEqual(
    errorsOf({ tpl }, { tpl: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'a b': 'c' } } } }),
    [
      "spec.tpl.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  );
});

test('a field that an update leaves as it was is not complained of', () => {
  const schema = compileSchema({
    type: 'object',
    properties: {
      a: { type: 'string', maxLength: 3 },
      b: { type: 'string' },
      l: { type: 'array', items: { type: 'string', pattern: '^a' } },
    },
  });
  const old = { a: 'long text', b: 'x', l: ['AAA'] };
  assert.deepEqual(schema.validate({ ...old, b: 'y' }, old), []);
  assert.deepEqual(schema.validate({ ...old, a: 'other text' }, old).map(formatFieldError), [
    'a: Too long: may not be more than 3 bytes',
  ]);
  assert.deepEqual(schema.validate({ ...old, l: ['AAA', 'BBB'] }, old).length, 2);
  assert.equal(schema.validate(old).length, 2);
});

test('keys that every JavaScript object inherits are ordinary keys', () => {
  const m: JsonSchema = { type: 'object', additionalProperties: { type: 'integer' } };
  assert.equal(errorsOf({ m }, JSON.parse('{"m":{"__proto__":"x","toString":1}}')).length, 1);
  assert.deepEqual(errorsOf({ m }, {}, { required: ['toString'] }), ['spec.toString: Required value']);
});
