import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldError, formatFieldError, invalidError } from './field-error.js';

const type = { group: 'etcd.database.coreos.com', kind: 'EtcdCluster' };

test('one error stands alone, several in brackets, equal ones once', () => {
  const size = fieldError.invalid('spec.size', 8, 'spec.size in body should be less than or equal to 7');
  const version = fieldError.required('spec.version');
  assert.equal(
    invalidError(type, 'x', [size]).message,
    'EtcdCluster.etcd.database.coreos.com "x" is invalid: spec.size: Invalid value: 8: spec.size in body should be less than or equal to 7',
  );
  assert.match(
    invalidError(type, 'x', [version, size, size]).message,
    /is invalid: \[spec.version: Required value, spec.size: [^\]]*7\]$/,
  );
});

test('the Status has the code, the kind and a cause for each error', () => {
  const { status } = invalidError({ group: '', kind: 'Pod' }, 'a', [fieldError.forbidden('spec.d', 'd must be k')]);
  assert.deepEqual(status, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: 'Pod "a" is invalid: spec.d: Forbidden: d must be k',
    reason: 'Invalid',
    details: {
      name: 'a',
      kind: 'Pod',
      causes: [{ reason: 'FieldValueForbidden', message: 'Forbidden: d must be k', field: 'spec.d' }],
    },
    code: 422,
  });
});

test('values are written as Go writes them', () => {
  assert.equal(
    formatFieldError(fieldError.duplicate('a', { b: '<&>', a: 1 })),
    'a: Duplicate value: {"a":1,"b":"\\u003c\\u0026\\u003e"}',
  );
  assert.equal(formatFieldError(fieldError.invalid('a', null, 'x')), 'a: Invalid value: null: x');
  assert.equal(formatFieldError(fieldError.invalid('a', '<"\n', 'x')), 'a: Invalid value: "<\\"\\n": x');
  assert.equal(formatFieldError(fieldError.notFound('a', 'b')), 'a: Not found: "b"');
});
