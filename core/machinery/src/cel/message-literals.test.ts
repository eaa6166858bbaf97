import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CelBudget } from './budget.js';
import { loadCelEngine } from './engine.js';
import { messageTypeProblem } from './message.js';
import { withMessageCalls } from './message-literals.js';
import { jsonOfCel } from './to-json.js';

const roots = ['Object', 'JSONPatch'];

async function evaluated(source: string) {
  const engine = await loadCelEngine();
  return engine.compile(source, {}, roots).evaluate(new Map(), new CelBudget(1_000_000));
}

for (const { what, source, json } of [
  {
    what: 'an object within an object',
    source: 'Object{metadata: Object.metadata{labels: {"a/b": "c"}, generation: 2}}',
    json: { metadata: { labels: { 'a/b': 'c' }, generation: 2 } },
  },
  {
    what: 'a list of patches with an escaped key',
    source: '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/~b"), value: "x"}]',
    json: [{ op: 'add', path: '/metadata/labels/a~1~0b', value: 'x' }],
  },
  {
    what: 'a field that is there only with a value',
    source: 'Object{?a: optional.of(1), ?b: optional.none(), c: {"Object{": true ? 1 : 2}}',
    json: { a: 1, c: { 'Object{': 1 } },
  },
  {
    what: 'spaces and lines between the parts',
    source: 'Object {\n  spec : Object . spec { } // Object{\n}',
    json: { spec: {} },
  },
]) {
  test(`an expression writes ${what}`, async () => {
    assert.deepEqual(jsonOfCel(await evaluated(source)), json);
  });
}

test('a message must be of the type of its field, also within lists', async () => {
  assert.equal(
    messageTypeProblem(await evaluated('Object{spec: Object.spec{list: [Object.spec.list{}]}}'), 'Object'),
    undefined,
  );
  assert.equal(
    messageTypeProblem(await evaluated('Object{spec: [Object.spex{}]}'), 'Object'),
    'unexpected type name "Object.spex", expected "Object.spec", which matches field name path from root Object type',
  );
});

test('types that were not asked for, and texts, stay as they are', () => {
  assert.equal(
    withMessageCalls('x in {"a": 1} && "Object{a: 1}" != \'\'', roots),
    'x in {"a": 1} && "Object{a: 1}" != \'\'',
  );
  assert.equal(withMessageCalls('Other{a: 1}', roots), 'Other{a: 1}');
});
