import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { compileSchema } from '../schema/compile.js';
import type { JsonSchema, ValidationRule } from '../schema/json-schema.js';
import { checkStructural } from '../structural/check-structural.js';
import { formatFieldError } from '../validation/field-error.js';
import { loadEnginesFor } from './schema-rules.js';

const fields = {
  a: { type: 'integer' },
  c: { type: 'string', maxLength: 10 },
  members: {
    type: 'array',
    maxItems: 5,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string' },
        size: {
          type: 'integer',
          'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'size is immutable' }],
        },
      },
    },
  },
} satisfies Record<string, JsonSchema>;

function schemaWith(...rules: readonly ValidationRule[]): JsonSchema {
  const spec: JsonSchema = { type: 'object', properties: fields, 'x-kubernetes-validations': rules };
  return { type: 'object', properties: { spec } };
}

function errorsOf(schema: JsonSchema, spec: unknown, old?: unknown): readonly string[] {
  const before = old === undefined ? undefined : { spec: old };
  return compileSchema(schema).validate({ spec }, before).map(formatFieldError);
}

/** What is said of a definition with this rule for `spec`, from the field of the rule on. */
function definitionErrors(rule: ValidationRule): readonly string[] {
  const path = '@.properties[spec].x-kubernetes-validations[0].';
  return checkStructural(schemaWith(rule), '@').map((error) => formatFieldError(error).replaceAll(path, ''));
}

before(() => loadEnginesFor(schemaWith({ rule: 'true' })));

test('a rule that does not hold is told with its message, its field and its reason', () => {
  assert.deepEqual(errorsOf(schemaWith({ rule: 'self.a != 7' }), { a: 7 }), [
    'spec: Invalid value: failed rule: self.a != 7',
  ]);
  const rule = {
    rule: 'self.c.startsWith("x")',
    messageExpression: '"c is " + self.c',
    fieldPath: '.c',
    reason: 'FieldValueForbidden',
  };
  assert.deepEqual(errorsOf(schemaWith(rule), { c: 'abc' }), ['spec.c: Forbidden: c is abc']);
});

test('a message that cannot be made is replaced by the fixed one', () => {
  const rule = { rule: 'false', message: 'no', messageExpression: 'string(1 / 0)' };
  assert.deepEqual(errorsOf(schemaWith(rule), {}), ['spec: Invalid value: no']);
});

test('a rule without a value is an error that shows the type of its place', () => {
  assert.deepEqual(errorsOf(schemaWith({ rule: 'self.a > 1' }), {}), [
    'spec: Invalid value: "object": no such key: a evaluating rule: self.a > 1',
  ]);
});

test('rules are not evaluated on what is not of its type', () => {
  assert.deepEqual(errorsOf(schemaWith({ rule: 'self.a > 1' }), { a: 'x' }), [
    'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
  ]);
});

test('a transition rule compares with what was, through lists by key, and not at the first write', () => {
  const schema = schemaWith({ rule: 'self.a >= oldSelf.a', message: 'a may only grow' });
  assert.deepEqual(errorsOf(schema, { a: 1 }), []);
  assert.deepEqual(errorsOf(schema, { a: 1 }, { a: 2 }), ['spec: Invalid value: a may only grow']);
  const moved = {
    a: 3,
    members: [
      { name: 'new', size: 9 },
      { name: 'x', size: 2 },
    ],
  };
  assert.deepEqual(errorsOf(schema, moved, { a: 2, members: [{ name: 'x', size: 1 }] }), [
    'spec.members[1].size: Invalid value: 2: size is immutable',
  ]);
});

test('with optionalOldSelf a transition rule is evaluated at the first write as well', () => {
  const rule = { rule: 'oldSelf.hasValue() || self.a < 100', optionalOldSelf: true, message: 'small at first' };
  assert.deepEqual(errorsOf(schemaWith(rule), { a: 100 }), ['spec: Invalid value: small at first']);
  assert.deepEqual(errorsOf(schemaWith(rule), { a: 500 }, { a: 5 }), []);
});

test('a rule that came later does not stand in the way of changes elsewhere', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          old: { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self < 10' }] },
          other: { type: 'integer' },
        },
      },
    },
  };
  assert.deepEqual(errorsOf(schema, { old: 11, other: 2 }, { old: 11, other: 1 }), []);
  assert.equal(errorsOf(schema, { old: 12 }, { old: 11 }).length, 1);
});

test('a rule that costs too much is refused in bounded time', () => {
  const rule = {
    rule: '[1, 2, 3, 4].all(w, self.c.split("").all(x, self.c.split("").all(y, self.c.split("").all(z, self.c.split("").all(v, self.c.split("").all(u, x + y + z != "?"))))))',
    message: 'bomb',
  };
  assert.deepEqual(errorsOf(schemaWith(rule), { c: '0123456789' }), [
    'spec: Invalid value: "object": \'operation cancelled: actual cost limit exceeded\': no further validation rules will be run due to call cost exceeds limit for rule: bomb',
  ]);
});

test('a definition whose rule is wrong is refused in the words of kube-apiserver', () => {
  const shown = (rule: string) =>
    `{"Rule":${JSON.stringify(rule)},"Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}`;
  assert.deepEqual(definitionErrors({ rule: 'self.zzz == 1' }), [
    `rule: Invalid value: ${shown('self.zzz == 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'zzz'\n | self.zzz == 1\n | ....^`,
  ]);
  assert.deepEqual(definitionErrors({ rule: 'self.a' }), [
    `rule: Invalid value: ${shown('self.a')}: cel expression must evaluate to a bool`,
  ]);
  assert.deepEqual(definitionErrors({ rule: ' ' }), ['rule: Required value: rule is not specified']);
  assert.deepEqual(definitionErrors({ rule: 'true', message: 'a\nb' }), [
    'message: Invalid value: "a\\nb": must not contain line breaks',
  ]);
  assert.deepEqual(definitionErrors({ rule: 'true', fieldPath: '.nosuch' }), [
    'fieldPath: Invalid value: ".nosuch": must be a valid path',
  ]);
  assert.deepEqual(definitionErrors({ rule: 'true', optionalOldSelf: true }), [
    'optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
  ]);
});

test('a hostile pattern takes time in proportion to the text', () => {
  const schema: JsonSchema = { type: 'object', properties: { s: { type: 'string', pattern: '^(a+)+$' } } };
  assert.equal(compileSchema(schema).validate({ s: `${'a'.repeat(10_000)}!` }).length, 1);
});
