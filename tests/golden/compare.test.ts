import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from './compare.js';
import { Placeholders } from './placeholders.js';
import { valueAt } from './pointer.js';
import type { RecordedReply, Tolerance } from './transcript.js';

function compared(recorded: RecordedReply, body: unknown, tolerate: readonly Tolerance[] = []): readonly string[] {
  const reply = { status: 200, headers: { 'content-type': 'application/json' }, body };
  const headers = { 'content-type': 'application/json' };
  return differences({ headers, ...recorded }, reply, { tolerate }, new Placeholders());
}

test('an equal reply has no differences, whatever the order of its keys', () => {
  assert.deepEqual(compared({ status: 200, body: { a: 1, b: [true, null] } }, { b: [true, null], a: 1 }), []);
});

test('differences name the place: status, header, missing, unexpected and other values', () => {
  const found = compared(
    { status: 409, headers: { 'retry-after': '1' }, body: { a: { 'x/y': 1 }, c: [1, 2] } },
    { a: { 'x/y': 2 }, b: 3, c: [1], message: 'no' },
  );
  assert.deepEqual(found, [
    'status: expected 409, got 200 (no)',
    'header content-type: not expected, got "application/json"',
    'header retry-after: missing, expected "1"',
    '/a/x~1y: expected 1, got 2',
    '/c: expected 2 elements, got 1: [1]',
    '/b: not expected, got 3',
    '/message: not expected, got "no"',
  ]);
});

test('a placeholder is one value throughout, and no other placeholder is that value', () => {
  const uid = (digit: string) => `00000000-0000-0000-0000-00000000000${digit}`;
  const placeholders = new Placeholders();
  assert.equal(placeholders.mismatch('UID: <uid:1>', `UID: ${uid('1')}`), undefined);
  assert.equal(placeholders.mismatch('<uid:2>', uid('2')), undefined);
  assert.equal(placeholders.mismatch('<uid:1>', uid('2')), `<uid:1> was ${uid('1')} before and is ${uid('2')} now`);
  assert.equal(
    placeholders.mismatch('<uid:3>', uid('1')),
    `${uid('1')} is <uid:1>, but was recorded as a value of its own, <uid:3>`,
  );
  assert.equal(placeholders.mismatch('<uid:1>', 'none'), 'expected "<uid:1>", got "none"');
});

test('resourceVersions keep the order in which they were recorded', () => {
  const placeholders = new Placeholders();
  assert.equal(placeholders.mismatch('<rv:2>', '10'), undefined);
  assert.equal(placeholders.mismatch('<rv:1>', '9'), undefined);
  assert.equal(placeholders.mismatch('<rv:3>', '8'), '<rv:3> is 8, which is out of order with <rv:2>, 10');
  assert.equal(placeholders.mismatch('<listrv>', '3'), undefined);
});

test('tolerances loosen one place only', () => {
  const recorded = {
    status: 200,
    body: { list: [{ name: 'a' }, { name: 'b' }], some: { a: 1 }, time: 1, text: 'a, b' },
  };
  const actual = { list: [{ name: 'b' }, { name: 'a' }], some: { a: 1, b: 2 }, time: 2, text: 'b, a' };
  assert.deepEqual(
    compared(recorded, actual, [
      { pointer: '/list', how: 'unordered' },
      { pointer: '/some', how: 'superset' },
      { pointer: '/time', how: 'present' },
      { pointer: '/text', how: 'unorderedText' },
    ]),
    [],
  );
  assert.equal(compared(recorded, actual).length, 5);
});

test('a pointer takes every element, a count, the keys, or the first element with a value', () => {
  const document = {
    items: [
      { m: { n: 'a' }, v: 1 },
      { m: { n: 'b' }, v: 2 },
    ],
    'a/b': 3,
  };
  assert.deepEqual(valueAt(document, '/items/*/v'), [1, 2]);
  assert.equal(valueAt(document, '/items/#'), 2);
  assert.deepEqual(valueAt(document, '/@keys'), ['a/b', 'items']);
  assert.equal(valueAt(document, '/items/[m.n=b]/v'), 2);
  assert.equal(valueAt(document, '/a~1b'), 3);
  assert.equal(valueAt(document, '/items/[m.n=c]/v'), undefined);
});
