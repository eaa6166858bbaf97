import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSameWhenStored } from './same-when-stored.js';

function inResources(cpu: unknown) {
  return { containers: [{ name: 'main', resources: { requests: { cpu } } }] };
}

test('O1: a quantity is the same in any form, where there are quantities', () => {
  assert.ok(isSameWhenStored(inResources('1000m'), inResources('1')));
  assert.ok(isSameWhenStored(inResources(1), inResources('1')));
  assert.ok(isSameWhenStored({ sizeLimit: '1024Mi' }, { sizeLimit: '1Gi' }));
  assert.ok(!isSameWhenStored(inResources('1001m'), inResources('1')));
  assert.ok(!isSameWhenStored(inResources('much'), inResources('1')));
  assert.ok(!isSameWhenStored({ labels: { size: '1000m' } }, { labels: { size: '1' } }));
});

test('O1: any other difference is one, in either direction; undefined is absent', () => {
  assert.ok(isSameWhenStored({ a: 1, b: undefined }, { a: 1 }));
  assert.ok(!isSameWhenStored({ a: 1 }, { a: 1, b: 2 }));
  assert.ok(!isSameWhenStored({ a: 1, b: 2 }, { a: 1 }));
  assert.ok(!isSameWhenStored(['a', 'b'], ['b', 'a']));
  assert.ok(!isSameWhenStored({ a: 1 }, undefined));
});
