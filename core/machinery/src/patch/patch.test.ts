import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isStatusError, type StatusReason } from '../status-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { deepFreeze } from '../value/deep-freeze.js';
import { applyJsonPatch } from './json-patch.js';
import { formatPointer } from './json-pointer.js';
import { applyMergePatch, createMergePatch } from './merge-patch.js';

test('a merge patch follows the examples of RFC 7386', () => {
  const examples: readonly (readonly [string, string, string])[] = [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ];
  for (const [original, patch, result] of examples) {
    assert.deepEqual(applyMergePatch(deepFreeze(JSON.parse(original)), JSON.parse(patch)), JSON.parse(result), patch);
  }
});

const key = fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor', 'a/b~'), fc.string({ maxLength: 3 }));
const { tree: withoutNulls } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.string({ maxLength: 3 }),
    fc.boolean(),
    fc.array(tie('tree'), { maxLength: 3 }),
    dictionary(tie('tree')),
  ),
}));

/** As a body would bring it: a key `__proto__` is an own key. */
function dictionary(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
}

test('the difference of two documents, applied to the first, gives the second', () => {
  fc.assert(
    fc.property(withoutNulls, withoutNulls, (before, after) => {
      const patch = createMergePatch(deepFreeze(before), deepFreeze(after));
      assert.ok(deepEqual(applyMergePatch(before, patch), after));
      if (deepEqual(before, after) && typeof before === 'object' && !Array.isArray(before)) assert.deepEqual(patch, {});
    }),
  );
});

test('a merge patch that changes nothing gives back the same object', () => {
  const object = { metadata: { labels: { a: 'b' } }, spec: { size: 3 } };
  assert.equal(applyMergePatch(object, { metadata: { labels: { a: 'b', c: null } } }), object);
});

test('no patch reaches a prototype', () => {
  const body = '{"__proto__":{"polluted":1}}';
  const merged = applyMergePatch({}, JSON.parse(body));
  assert.equal(JSON.stringify(merged), body);
  const added = applyJsonPatch({}, [{ op: 'add', path: '/__proto__', value: { polluted: 1 } }]);
  assert.equal(JSON.stringify(added), body);
  assert.equal(Reflect.get({}, 'polluted'), undefined);
  assert.equal(Reflect.get(merged ?? {}, 'polluted'), undefined);
  refused('Invalid', {}, [{ op: 'add', path: '/constructor/prototype/polluted', value: 1 }]);
});

function refused(reason: StatusReason, document: unknown, operations: unknown): string {
  let message = '';
  assert.throws(
    () => applyJsonPatch(document, operations),
    (error) => {
      assert.ok(isStatusError(error, reason), String(error));
      message = error.message;
      return true;
    },
  );
  return message;
}

test('each operation of a JSON patch does what RFC 6902 says', () => {
  const document = deepFreeze({ list: [1, 2], m: { a: 1, 'b/c~d': 2 } });
  const apply = (...operations: unknown[]) => applyJsonPatch(document, operations);
  assert.deepEqual(apply({ op: 'add', path: '/list/-', value: 3 }, { op: 'add', path: '/list/0', value: 0 }), {
    list: [0, 1, 2, 3],
    m: document.m,
  });
  assert.deepEqual(apply({ op: 'remove', path: '/m/b~1c~0d' }), { list: [1, 2], m: { a: 1 } });
  assert.deepEqual(apply({ op: 'replace', path: '/list/1', value: 9 }), { list: [1, 9], m: document.m });
  assert.deepEqual(apply({ op: 'move', from: '/list', path: '/m/l' }), { m: { ...document.m, l: [1, 2] } });
  assert.deepEqual(apply({ op: 'copy', from: '/m/a', path: '/a' }), { ...document, a: 1 });
  assert.deepEqual(apply({ op: 'replace', path: '', value: 1 }), 1);
  assert.equal(
    apply({ op: 'test', path: '/list', value: [1, 2] }, { op: 'test', path: '/none', value: null }),
    document,
  );
});

test('what cannot be applied is refused, and nothing of it is done', () => {
  const document = { list: [1], m: {} };
  refused('Invalid', document, [{ op: 'remove', path: '/none' }]);
  refused('Invalid', document, [{ op: 'replace', path: '/m/none', value: 1 }]);
  refused('Invalid', document, [{ op: 'add', path: '/none/a', value: 1 }]);
  refused('Invalid', document, [{ op: 'add', path: '/list/2', value: 1 }]);
  refused('Invalid', document, [{ op: 'remove', path: '/list/01' }]);
  refused('Invalid', document, [{ op: 'add', path: '/m/toString/a', value: 1 }]);
  assert.match(
    refused('Invalid', document, [{ op: 'test', path: '/list/0', value: 2 }]),
    /testing value \/list\/0 failed: test failed/,
  );
  refused('BadRequest', document, [{ op: 'odd', path: '' }]);
  refused('BadRequest', document, [{ op: 'add', path: '/a' }]);
  refused('BadRequest', document, [{ op: 'move', path: '/a' }]);
  refused('BadRequest', document, {});
  assert.deepEqual(document, { list: [1], m: {} });
});

test('a patch that is too long, or copies too much, is refused', () => {
  const many = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '', value: 1 }));
  assert.match(
    refused('RequestEntityTooLarge', 1, many),
    /allowed maximum operations in a JSON patch is 10000, got 10001/,
  );
  const doubling = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/l', path: '/l/-' }));
  refused('Invalid', { l: ['x'.repeat(1000)] }, doubling);
});

test('adding and removing a value at any place of a document gives the document back', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }),
      fc.string(),
      fc.jsonValue(),
      (document, name, value) => {
        fc.pre(!Object.hasOwn(document, name));
        const path = formatPointer([name]);
        const added = applyJsonPatch(deepFreeze(document), [
          { op: 'add', path, value },
          { op: 'test', path, value },
        ]);
        assert.ok(deepEqual(applyJsonPatch(added, [{ op: 'remove', path }]), document));
      },
    ),
  );
});
