import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubernetesObject, type Secret, secrets, serviceAccounts } from '@castellan/machinery';
import { tokenSecretsController } from '../src/accounts/token-secrets.js';
import { Bench } from './bench.js';

const key = { namespace: 'default', name: 'robot' };
const encoded = (text: string) => Buffer.from(text).toString('base64');

function secret(name: string, uid?: string, data: Secret['data'] = {}): Secret {
  const annotations = {
    'kubernetes.io/service-account.name': 'robot',
    ...(uid === undefined ? {} : { 'kubernetes.io/service-account.uid': uid }),
  };
  const metadata = { namespace: 'default', name, uid: `uid-${name}`, annotations };
  return { metadata, type: 'kubernetes.io/service-account-token', data };
}

/** A server that issues a token to whoever asks, and remembers what for. */
async function benchWith(...all: readonly Secret[]) {
  const bench = new Bench(tokenSecretsController('PEM'));
  bench.server.serve(secrets);
  const asked: unknown[] = [];
  const create = bench.server.create.bind(bench.server);
  bench.server.create = async (type, object, options = {}) => {
    if (options.subresource !== 'token') return await create(type, object, options);
    asked.push((object as KubernetesObject & { spec?: unknown }).spec);
    return { ...object, status: { token: `token ${asked.length}` } };
  };
  for (const each of all) await bench.server.add(secrets, each);
  return { bench, asked };
}

test('TS1 a Secret gets a token that ends with it, the certificate and its namespace, once', async () => {
  const { bench, asked } = await benchWith(secret('s'));
  await bench.server.add(serviceAccounts, { metadata: { ...key, uid: 'uid-robot' } });
  assert.deepEqual(bench.keysFor(secrets, secret('s')), [key]);
  await bench.reconcile(key);
  const { data, metadata } = await bench.server.get(secrets, { namespace: 'default', name: 's' });
  assert.deepEqual(data, { token: encoded('token 1'), 'ca.crt': encoded('PEM'), namespace: encoded('default') });
  assert.equal(metadata.annotations?.['kubernetes.io/service-account.uid'], 'uid-robot');
  assert.deepEqual(asked, [
    {
      audiences: [],
      expirationSeconds: 4_294_967_296,
      boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'uid-s' },
    },
  ]);
  const before = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, before);
});

test('TS2 a Secret whose account is gone, or is another one by now, goes', async () => {
  const names = async (bench: Bench) => (await bench.server.list(secrets)).items.map(({ metadata }) => metadata.name);
  const { bench } = await benchWith(secret('gone'));
  await bench.reconcile(key);
  assert.deepEqual(await names(bench), []);
  const { bench: other } = await benchWith(secret('of-the-old', 'uid-old'), secret('of-the-new', 'uid-robot'));
  await other.server.add(serviceAccounts, { metadata: { ...key, uid: 'uid-robot' } });
  await other.reconcile(key);
  assert.deepEqual(await names(other), ['of-the-new']);
});

test('TS2 an account that the cache does not show yet keeps its Secrets', async () => {
  const { bench } = await benchWith(secret('s'));
  await bench.sync();
  await bench.server.add(serviceAccounts, { metadata: { ...key, uid: 'uid-robot' } });
  await bench.reconcileStale(key);
  assert.equal((await bench.server.list(secrets)).items.length, 1);
});
