import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeyspaceClosedError } from '@castellan/keyspace';
import { storageFailure } from './storage-failure.js';

test('a storage that is away is a 503 that says when to come again; a bug is no storage failure', () => {
  const failure = storageFailure(new KeyspaceClosedError());
  assert.equal(failure?.code, 503);
  assert.equal(failure?.status.details?.retryAfterSeconds, 1);
  assert.equal(storageFailure(new TypeError('x is undefined')), undefined);
});
