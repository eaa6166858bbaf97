import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deepFreeze } from '../value/deep-freeze.js';
import { compileSchema } from './compile.js';
import type { JsonSchema } from './json-schema.js';
import { prune } from './prune.js';

/** The schema and objects of a conversation with kube-apiserver 1.36. */
const spec: JsonSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer', default: 3 },
    o: { type: 'object', default: {}, properties: { d: { type: 'string', default: 'x' } } },
    p: { type: 'object', properties: { d: { type: 'string', default: 'y' } } },
    l: {
      type: 'array',
      items: { type: 'object', properties: { d: { type: 'boolean', default: true }, e: { type: 'string' } } },
    },
    nul: { type: 'string', nullable: true, default: 'z' },
    nn: { type: 'string', default: 'q' },
    free: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { k: { type: 'object', properties: { v: { type: 'string' } } } },
    },
    m: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { v: { type: 'integer', default: 1 } } },
    },
  },
};
const schema = compileSchema({ type: 'object', properties: { spec } });

test('an empty spec gets all defaults, and those within a default', () => {
  assert.deepEqual(schema.withDefaults({ spec: {} }), { spec: { n: 3, nn: 'q', nul: 'z', o: { d: 'x' } } });
});

test('unknown fields are dropped and named, then defaults come in', () => {
  const { value, droppedPaths } = schema.prune(
    deepFreeze({
      spec: {
        p: {},
        l: [{ e: 'x', gone: 1 }, {}],
        nul: null,
        nn: null,
        gone: 1,
        free: { any: { thing: 1 }, k: { v: 'x', gone: 1 } },
        m: { a: {} },
      },
    }),
  );
  assert.deepEqual(droppedPaths, ['spec.free.k.gone', 'spec.gone', 'spec.l[0].gone']);
  assert.deepEqual(schema.withDefaults(deepFreeze(value)), {
    spec: {
      free: { any: { thing: 1 }, k: { v: 'x' } },
      l: [{ d: true, e: 'x' }, { d: true }],
      m: { a: { v: 1 } },
      n: 3,
      nn: 'q',
      nul: null,
      o: { d: 'x' },
      p: { d: 'y' },
    },
  });
});

test('unknown fields beside the spec and in the metadata are dropped, those of every resource are kept', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'W',
    metadata: { name: 'd', labels: { odd: '1' }, odd: 1 },
    spec: {},
    other: 1,
  };
  assert.deepEqual(schema.prune(object), {
    value: { apiVersion: 'v1', kind: 'W', metadata: { name: 'd', labels: { odd: '1' } }, spec: {} },
    droppedPaths: ['metadata.odd', 'other'],
  });
});

test('a null against the schema goes where there is no default', () => {
  const plain = compileSchema({
    type: 'object',
    properties: { a: { type: 'string' }, l: { type: 'array', items: { type: 'string' } } },
  });
  assert.deepEqual(plain.withDefaults({ a: null, l: [null] }), { l: [null] });
});

test('what needs no change is given back itself', () => {
  const object = {
    apiVersion: 'v1',
    kind: 'W',
    metadata: { name: 'a' },
    spec: { n: 1, nn: '', nul: '', o: { d: '' } },
  };
  assert.equal(schema.withDefaults(object), object);
  assert.equal(schema.prune(object).value, object);
});

const anySpec = fc.record(
  {
    n: fc.integer(),
    gone: fc.jsonValue(),
    free: fc.dictionary(fc.constantFrom('k', 'any', '__proto__'), fc.jsonValue()),
    l: fc.array(fc.dictionary(fc.constantFrom('d', 'e', 'gone'), fc.jsonValue())),
    m: fc.dictionary(fc.string(), fc.dictionary(fc.constantFrom('v', 'constructor'), fc.jsonValue())),
  },
  { requiredKeys: [] },
);

test('pruning and defaulting twice is as once, and changes nothing in place', () => {
  fc.assert(
    fc.property(anySpec, (generated) => {
      const before = deepFreeze(JSON.parse(JSON.stringify({ spec: generated })));
      const once = schema.prune(before);
      const twice = schema.prune(once.value);
      assert.deepEqual(twice, { value: once.value, droppedPaths: [] });
      const filled = schema.withDefaults(deepFreeze(once.value));
      assert.equal(schema.withDefaults(deepFreeze(filled)), filled);
      assert.equal(schema.prune(filled).value, filled);
    }),
  );
});

test('a key __proto__ is dropped like any other and never becomes a prototype', () => {
  const { value, droppedPaths } = prune({ type: 'object' }, JSON.parse('{"__proto__":{"polluted":1}}'));
  assert.deepEqual(droppedPaths, ['__proto__']);
  assert.deepEqual(Object.keys(value), []);
  const kept = prune(
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'object' } } },
    JSON.parse('{"__proto__":{"polluted":1},"a":{"b":1}}'),
  );
  assert.deepEqual(Object.keys(kept.value), ['__proto__', 'a']);
  assert.equal(Reflect.get(kept.value, 'polluted'), undefined);
});
