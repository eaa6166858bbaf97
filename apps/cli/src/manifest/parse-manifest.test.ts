import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { CliError } from '../errors.js';
import { parseManifest } from './parse-manifest.js';

const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

function failureOf(text: string): CliError {
  try {
    parseManifest(text, 'file.yaml');
  } catch (error) {
    assert.ok(error instanceof CliError);
    return error;
  }
  assert.fail('it was accepted');
}

test('reads every document of a manifest, skips empty ones and unpacks lists', () => {
  const text = `${stringify(object)}---\n# nothing here\n---\n${stringify({ apiVersion: 'v1', kind: 'List', items: [object, object] })}`;
  assert.deepEqual(parseManifest(text, 'file.yaml'), [object, object, object]);
});

test('text that is not YAML is refused with file, line, column and the line itself', () => {
  const failure = failureOf('spec: [unclosed\n  nor: closed');
  assert.equal(failure.code, 'NOT_YAML');
  assert.equal(failure.exitCode, 2);
  assert.match(failure.message, /file\.yaml, line 1, column 8: this is not YAML/);
  assert.match(failure.message, /spec: \[unclosed\n\s+\^/);
});

test('a document that is no object is refused by what it lacks and where it begins', () => {
  assert.match(failureOf('kind: A').message, /file\.yaml, line 1: apiVersion is missing/);
  assert.match(failureOf('---\napiVersion: v1\n').message, /line 2: kind is missing/);
  assert.match(failureOf('apiVersion: v1\nkind: A\nmetadata: {}').message, /metadata\.name of the A is missing/);
  assert.match(failureOf('just words').message, /not an object/);
  assert.match(failureOf('').message, /holds no object/);
});

test('what is not a manifest is always refused with an expected error, never with a crash', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.json(),
        fc.object().map((value) => stringify(value)),
      ),
      (text) => {
        try {
          parseManifest(text, 'file.yaml');
        } catch (error) {
          assert.ok(error instanceof CliError, String(error));
        }
      },
    ),
  );
});

test('any object survives being written as YAML and read again', () => {
  const named = fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Thing'),
    metadata: fc.record({ name: fc.stringMatching(/^[a-z]{1,9}$/) }),
    spec: fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,9}$/), fc.oneof(fc.integer(), fc.boolean(), fc.string())),
  });
  fc.assert(
    fc.property(named, (value) =>
      assert.deepEqual(parseManifest(stringify(value), 'file.yaml'), [structuredClone(value)]),
    ),
  );
});
