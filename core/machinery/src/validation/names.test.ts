import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isIpv4, isIpv6 } from './ip-address.js';
import {
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelValueErrors,
  qualifiedNameErrors,
} from './names.js';

test('a subdomain is refused in the words of kube-apiserver', () => {
  assert.deepEqual(dns1123SubdomainErrors('example.com'), []);
  assert.deepEqual(dns1123SubdomainErrors('A_b'), [
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ]);
  assert.deepEqual(dns1123SubdomainErrors('a'.repeat(254)), ['must be no more than 253 characters']);
});

test('labels of DNS names are lower case, at most 63 bytes, and of services begin with a letter', () => {
  assert.deepEqual(dns1123LabelErrors('0-a'), []);
  assert.deepEqual(dns1123LabelErrors('a'.repeat(64)), ['must be no more than 63 characters']);
  for (const bad of ['', '-a', 'a-', 'a.b', 'A', 'a\n']) assert.equal(dns1123LabelErrors(bad).length, 1, bad);
  assert.match(
    dns1035LabelErrors('0-a')[0] ?? '',
    /^a DNS-1035 label must consist of .* \(e\.g\. 'my-name', {2}or 'abc-123'/,
  );
});

test('label keys may have a prefix, label values may be empty', () => {
  for (const good of ['app', 'app.kubernetes.io/name', 'A_b-c.d']) assert.deepEqual(qualifiedNameErrors(good), []);
  assert.deepEqual(qualifiedNameErrors('/a'), ['prefix part must be non-empty']);
  assert.equal(qualifiedNameErrors('a/').length, 2);
  assert.match(
    qualifiedNameErrors('a/b/c')[0] ?? '',
    /^a valid label key must consist of .* with an optional DNS subdomain prefix/,
  );
  assert.match(qualifiedNameErrors('A/b')[0] ?? '', /^prefix part a lowercase RFC 1123 subdomain/);
  assert.deepEqual(labelValueErrors(''), []);
  assert.match(labelValueErrors('a b')[0] ?? '', /^a valid label must be an empty string or consist of/);
});

test('addresses are told apart', () => {
  for (const good of ['0.0.0.0', '10.96.0.1', '255.255.255.255']) assert.ok(isIpv4(good), good);
  for (const bad of ['1.2.3', '1.2.3.256', '01.2.3.4', '1.2.3.4.5', '1.2.3.-4']) assert.ok(!isIpv4(bad), bad);
  for (const good of ['::', '::1', 'fe80::1', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1::'])
    assert.ok(isIpv6(good), good);
  for (const bad of ['', ':', '1:2', '1::2::3', '1:2:3:4:5:6:7:8:9', '::12345', '1:2:3:4:5:6:7::8', '1.2.3.4::']) {
    assert.ok(!isIpv6(bad), bad);
  }
});
