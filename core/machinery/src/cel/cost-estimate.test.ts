import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadEnginesFor } from '../rules/schema-rules.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { checkStructural } from '../structural/check-structural.js';
import { formatFieldError } from '../validation/field-error.js';
import { estimateCost } from './cost-estimate.js';
import { type CelEngine, loadCelEngine } from './engine.js';
import { schemaTypeOf } from './schema-type.js';

let engine: CelEngine;
before(async () => {
  engine = await loadCelEngine();
  await loadEnginesFor({});
});

function cost(rule: string, schema: JsonSchema): number {
  const type = schemaTypeOf(schema);
  assert.ok(type);
  return estimateCost(engine.compile(rule, { self: { type } }).expression, schema);
}

const integers: JsonSchema = { type: 'array', items: { type: 'integer' } };
const text: JsonSchema = { type: 'string' };

test('what a rule may cost follows from the most that its schema allows', () => {
  // Figures of apiextensions-apiserver's own tests.
  assert.equal(cost('self.all(x, true)', integers), 4_718_591);
  assert.equal(cost('self.all(x, true)', { ...integers, maxItems: 10 }), 32);
  assert.equal(cost('self.contains("test")', text), 314_574);
  assert.equal(cost('self.contains("test")', { ...text, maxLength: 10 }), 5);
});

test('a definition whose rules cost too much is told of each, and of all together', () => {
  const rule = { rule: 'self.all(x, self.all(y, x == y))' };
  const list = { ...integers, maxItems: 3000, 'x-kubernetes-validations': [rule] };
  const advice =
    '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
  const errors = checkStructural({ type: 'object', properties: { a: list } }, '@').map(formatFieldError);
  assert.deepEqual(errors, [
    `@.properties[a].x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 5.4x ${advice}`,
  ]);
  const nested: JsonSchema = { type: 'object', properties: { b: { type: 'array', maxItems: 2, items: list } } };
  assert.deepEqual(checkStructural(nested, '@').map(formatFieldError), [
    `@.properties[b].items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 10.8x ${advice}`,
    '@.properties[b].items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
    `@: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 1.080300x ${advice}`,
  ]);
});
