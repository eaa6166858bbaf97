import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedEvents } from './shared-events.js';

test('the event of a large object is made once for all that send it, one for each form', () => {
  const events = new SharedEvents();
  const object = { metadata: { name: 'large' } };
  let made = 0;
  const encode = () => {
    made += 1;
    return Buffer.alloc(100_000, made);
  };
  const first = events.of(object, 'json', encode);
  assert.equal(events.of(object, 'json', encode), first);
  assert.notEqual(events.of(object, 'metadata', encode), first);
  assert.notEqual(events.of({ metadata: { name: 'large' } }, 'json', encode), first);
  assert.equal(made, 3);
});

test('the event of a small object is made for each', () => {
  const events = new SharedEvents();
  const object = { metadata: { name: 'small' } };
  const encode = () => Buffer.alloc(1000);
  assert.notEqual(events.of(object, 'json', encode), events.of(object, 'json', encode));
});
