import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isStatusError } from '../status-error.js';
import { deepEqual } from '../value/deep-equal.js';
import { formatFieldSelector, matchesFields, parseFieldSelector } from './field-selector.js';
import { formatLabelSelector, labelSelectorOf, matchesLabels } from './label-selector.js';
import { parseLabelSelector } from './parse-label-selector.js';

function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    assert.ok(isStatusError(error, 'BadRequest'), String(error));
    return error.message;
  }
  return '';
}

test('each operator of a label selector matches what it should', () => {
  const matches = (selector: string, labels?: Record<string, string>) =>
    matchesLabels(parseLabelSelector(selector), labels);
  const labels = { n: 'a', even: '1', generation: '12' };
  for (const selector of [
    '',
    'n=a',
    'n==a',
    'n!=b',
    'n in (a,b)',
    'n in (a, b),even!=2',
    'n notin (b)',
    'n',
    '!x',
    'x!=1',
    'x notin (1)',
    'generation>3',
    'generation<100',
    ' n = a ',
  ]) {
    assert.equal(matches(selector, labels), true, selector);
  }
  for (const selector of [
    'n=b',
    'n!=a',
    'n in (b,c)',
    'n notin (a)',
    'x',
    '!n',
    'x=1',
    'x in (1)',
    'generation>12',
    'n>3',
    'n=',
    'n in ()',
    'n=a,x',
  ]) {
    assert.equal(matches(selector, labels), false, selector);
  }
  assert.equal(matches('n=', { n: '' }), true);
  assert.equal(matches('n', undefined), false);
  assert.equal(matches('toString', {}), false);
});

test('a label selector that cannot be read is refused in the words of kube-apiserver', () => {
  const messages: Readonly<Record<string, string>> = {
    'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    'a=b c': "found 'c', expected: ',' or 'end of string'",
    'n in a': "unable to parse requirement: found 'a' expected: '('",
    'n in (a': "unable to parse requirement: found '', expected: ',' or ')'",
    '=a': "found '=', expected: !, identifier, or 'end of string'",
    'a==b==c': "found '==', expected: ',' or 'end of string'",
    'n>x':
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
    '!': "unable to parse requirement: found '', expected: identifier",
    ',': "found ',', expected: !, identifier, or 'end of string'",
    'a=b,': "found '', expected: identifier after ','",
    'n notin': "unable to parse requirement: found '' expected: '('",
    [`n=${'x'.repeat(64)}`]: `unable to parse requirement: values[0][n]: Invalid value: "${'x'.repeat(64)}": must be no more than 63 bytes`,
    'a/b/c=d':
      "unable to parse requirement: <nil>: Invalid value: \"a/b/c\": a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
  };
  for (const [selector, message] of Object.entries(messages)) {
    assert.equal(
      refusal(() => parseLabelSelector(selector)),
      message,
      selector,
    );
  }
});

test('a selector of a spec demands its labels and its expressions', () => {
  const selector = labelSelectorOf({
    matchLabels: { app: 'etcd' },
    matchExpressions: [
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'old', operator: 'DoesNotExist' },
    ],
  });
  assert.equal(matchesLabels(selector, { app: 'etcd', tier: 'b' }), true);
  assert.equal(matchesLabels(selector, { app: 'etcd', tier: 'b', old: '' }), false);
  assert.equal(formatLabelSelector(selector), 'app=etcd,!old,tier in (a,b)');
  assert.throws(
    () => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'Odd' }] }),
    /"Odd" is not a valid label selector operator/,
  );
  assert.throws(
    () => labelSelectorOf({ matchExpressions: [{ key: 'a', operator: 'In' }] }),
    /values set can't be empty/,
  );
});

const name = fc.stringMatching(/^[a-z]([a-z.-]{0,5}[a-z])?$/);
const labels = fc.dictionary(name, name, { maxKeys: 4 });
const requirement = fc.oneof(
  fc.record({
    key: name,
    operator: fc.constantFrom('in' as const, 'notin' as const),
    values: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ key: name, operator: fc.constantFrom('exists' as const, '!' as const), values: fc.constant([]) }),
);

test('a label selector that is written and read again matches the same labels', () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), labels, (selector, object) => {
      const again = parseLabelSelector(formatLabelSelector(selector));
      assert.equal(matchesLabels(again, object), matchesLabels(selector, object));
      assert.equal(formatLabelSelector(again), formatLabelSelector(selector));
    }),
  );
});

test('no text makes the parser of label selectors fail otherwise than by a refusal', () => {
  const pieces = fc.constantFrom('a', 'in', 'notin', '=', '==', '!=', '!', '(', ')', ',', ' ', '<', '>', '1');
  fc.assert(
    fc.property(
      fc.array(pieces).map((all) => all.join('')),
      (text) => {
        refusal(() => parseLabelSelector(text));
      },
    ),
  );
});

test('a field selector is read and matched, absent fields being empty', () => {
  const fields: Readonly<Record<string, string>> = { 'metadata.name': 'a', 'status.phase': 'Running' };
  const matches = (selector: string) => matchesFields(parseFieldSelector(selector), (field) => fields[field]);
  for (const selector of [
    '',
    'metadata.name=a',
    'metadata.name==a',
    'metadata.name!=b',
    'spec.nodeName=',
    'metadata.name=a,status.phase!=Pending',
  ]) {
    assert.equal(matches(selector), true, selector);
  }
  assert.equal(matches('metadata.name=a,status.phase=Pending'), false);
  assert.deepEqual(parseFieldSelector('a=\\,\\=\\\\'), [{ field: 'a', operator: '=', value: ',=\\' }]);
});

test('a field selector that cannot be read is refused in the words of kube-apiserver', () => {
  const messages: Readonly<Record<string, string>> = {
    'metadata.name': "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    'metadata.name in (a)': "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
    'metadata.name=a=b': 'invalid field selector: unescaped character in value: 61',
    'metadata.name=a\\': 'invalid field selector: invalid escape sequence: \\',
  };
  for (const [selector, message] of Object.entries(messages)) {
    assert.equal(
      refusal(() => parseFieldSelector(selector)),
      message,
    );
  }
});

test('a field selector that is written and read again is the same', () => {
  const term = fc.record({ field: name, operator: fc.constantFrom('=' as const, '!=' as const), value: fc.string() });
  fc.assert(
    fc.property(fc.array(term), (selector) => {
      assert.ok(deepEqual(parseFieldSelector(formatFieldSelector(selector)), selector));
    }),
  );
});
