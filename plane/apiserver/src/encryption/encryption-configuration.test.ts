import assert from 'node:assert/strict';
import { createCipheriv } from 'node:crypto';
import { test } from 'node:test';
import type { Encryption } from './encryption.js';
import { parseEncryptionConfiguration } from './encryption-configuration.js';
import { sealBox } from './secret-box.js';

const one = Buffer.alloc(32, 1);
const two = Buffer.alloc(32, 2);
const secrets = { group: '', plural: 'secrets' };
const key = '/registry/secrets/default/a';
const value = Buffer.from('{"data":{}}');

const configuration = (providers: unknown, resources: unknown = ['secrets']): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  });
const keys = (...secretsOf: readonly Buffer[]) => ({
  keys: secretsOf.map((secret, index) => ({ name: `key${index + 1}`, secret: secret.toString('base64') })),
});
const read = (encryption: Encryption, stored: Uint8Array, at = key) =>
  encryption.transformerOf(secrets).open(at, stored);

for (const type of ['aescbc', 'aesgcm', 'secretbox']) {
  test(`${type} names itself and its key before the value, opens it again and does not show it`, () => {
    const encryption = parseEncryptionConfiguration(configuration([{ [type]: keys(one) }, { identity: {} }]));
    const stored = Buffer.from(encryption.transformerOf(secrets).seal(key, value));
    assert.equal(stored.toString('latin1').slice(0, `k8s:enc:${type}:v1:key1:`.length), `k8s:enc:${type}:v1:key1:`);
    assert.ok(!stored.includes('data'));
    assert.deepEqual(read(encryption, stored), { value, isStale: false });
    assert.deepEqual(read(encryption, value), { value, isStale: true });
  });

  test(`${type}: keys are rotated by adding the new one behind, moving it first, and removing the old one`, () => {
    const old = parseEncryptionConfiguration(configuration([{ [type]: keys(one) }]));
    const stored = old.transformerOf(secrets).seal(key, value);
    const [first, second] = keys(one, two).keys;
    const rotating = parseEncryptionConfiguration(configuration([{ [type]: { keys: [second, first] } }]));
    assert.deepEqual(read(rotating, stored), { value, isStale: true });
    const rewritten = rotating.transformerOf(secrets).seal(key, value);
    assert.deepEqual(read(rotating, rewritten), { value, isStale: false });
    const rotated = parseEncryptionConfiguration(configuration([{ [type]: { keys: [second] } }]));
    assert.deepEqual(read(rotated, rewritten), { value, isStale: false });
    assert.throws(() => read(rotated, stored), /the key "key1", which is not configured/);
  });
}

test('values that another server has sealed are opened: the format is kube-apiserver’s', () => {
  const iv = Buffer.alloc(16, 7);
  const cbc = createCipheriv('aes-256-cbc', one, iv);
  const aescbc = Buffer.concat([Buffer.from('k8s:enc:aescbc:v1:key1:'), iv, cbc.update(value), cbc.final()]);
  const nonce = Buffer.alloc(12, 8);
  const gcm = createCipheriv('aes-256-gcm', one, nonce).setAAD(Buffer.from(key));
  const ciphertext = Buffer.concat([gcm.update(value), gcm.final()]);
  const aesgcm = Buffer.concat([Buffer.from('k8s:enc:aesgcm:v1:key1:'), nonce, ciphertext, gcm.getAuthTag()]);
  const long = Buffer.alloc(24, 9);
  const secretbox = Buffer.concat([Buffer.from('k8s:enc:secretbox:v1:key1:'), long, sealBox(one, long, value)]);
  const all = [{ aescbc: keys(one) }, { aesgcm: keys(one) }, { secretbox: keys(one) }];
  const encryption = parseEncryptionConfiguration(configuration(all));
  for (const stored of [aescbc, aesgcm, secretbox])
    assert.deepEqual(Buffer.from(read(encryption, stored).value), value);
});

test('aesgcm: a value that was moved to another key does not open', () => {
  const encryption = parseEncryptionConfiguration(configuration([{ aesgcm: keys(one) }]));
  const stored = encryption.transformerOf(secrets).seal(key, value);
  assert.throws(() => read(encryption, stored, '/registry/secrets/default/b'), /changed since/);
});

test('two providers with the same key name and other secrets: the one that opens is found', () => {
  const old = parseEncryptionConfiguration(configuration([{ aesgcm: keys(one) }]));
  const both = parseEncryptionConfiguration(configuration([{ aesgcm: keys(two) }, { aesgcm: keys(one) }]));
  assert.deepEqual(read(both, old.transformerOf(secrets).seal(key, value)), { value, isStale: true });
});

test('identity in front decrypts with the next update, and alone refuses what is encrypted', () => {
  const old = parseEncryptionConfiguration(configuration([{ aescbc: keys(one) }]));
  const stored = old.transformerOf(secrets).seal(key, value);
  const leaving = parseEncryptionConfiguration(configuration([{ identity: {} }, { aescbc: keys(one) }]));
  assert.deepEqual(read(leaving, stored), { value, isStale: true });
  assert.deepEqual(leaving.transformerOf(secrets).seal(key, value), value);
  const left = parseEncryptionConfiguration(configuration([{ identity: {} }]));
  assert.throws(
    () => read(left, stored),
    /^DecryptionError: unable to transform key "\/registry\/secrets\/default\/a": no matching prefix found: it is encrypted by aescbc:v1/,
  );
});

test('the most exact resource decides: name, then group, then all', () => {
  const encryption = parseEncryptionConfiguration(`
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, widgets.example.com]
  providers: [{ secretbox: { keys: [{ name: exact, secret: ${one.toString('base64')} }] } }]
- resources: ['*.apps', '*.']
  providers: [{ aesgcm: { keys: [{ name: group, secret: ${one.toString('base64')} }] } }]
- resources: ['*.*']
  providers: [{ aescbc: { keys: [{ name: all, secret: ${one.toString('base64')} }] } }]
`);
  const sealedWith = (plural: string, group: string) =>
    Buffer.from(encryption.transformerOf({ group, plural }).seal(key, value)).toString('latin1').split(':')[4];
  assert.equal(sealedWith('secrets', ''), 'exact');
  assert.equal(sealedWith('widgets', 'example.com'), 'exact');
  assert.equal(sealedWith('deployments', 'apps'), 'group');
  assert.equal(sealedWith('configmaps', ''), 'group');
  assert.equal(sealedWith('secrets', 'example.com'), 'all');
});

test('what is wrong with a file is said with its place, and secrets are not repeated', () => {
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['{', /^it is not YAML/],
    ['kind: Pod', /not apiVersion apiserver\.config\.k8s\.io\/v1, kind EncryptionConfiguration/],
    [configuration([]), /resources\[0\]\.providers: Required value/],
    [configuration([{ identity: {} }], []), /resources\[0\]\.resources: Required value/],
    [configuration([{ identity: {} }], ['*']), /use \*\.\* for all resources/],
    [configuration([{ identity: {} }], ['secrets', 'secrets.']), /named twice/],
    [configuration([{ identity: {}, aescbc: keys(one) }]), /providers\[0\]: more than one provider specified/],
    [configuration([{ kms: { name: 'a' } }]), /providers\[0\]\.kms: key management services are not supported/],
    [configuration([{ rot13: {} }]), /providers\[0\]: not one of the providers/],
    [configuration([{ aescbc: {} }]), /aescbc\.keys: Required value/],
    [configuration([{ aescbc: keys(Buffer.alloc(5)) }]), /keys\[0\]\.secret: .+ got 5, expected one of \[16 24 32\]/],
    [configuration([{ secretbox: keys(Buffer.alloc(16)) }]), /got 16, expected one of \[32\]/],
    [configuration([{ aesgcm: { keys: [{ name: 'a', secret: 'not base64!' }] } }]), /must be base64 encoded$/],
    [configuration([{ aesgcm: { keys: [{ name: 'a:b', secret: one.toString('base64') }] } }]), /must not contain ":"/],
    [configuration([{ aesgcm: { keys: [{ secret: one.toString('base64') }] } }]), /keys\[0\]\.name: Required value/],
  ];
  for (const [file, says] of wrong) {
    assert.throws(
      () => parseEncryptionConfiguration(file),
      { name: 'EncryptionConfigurationError', message: says },
      file,
    );
  }
});
