import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps, type Namespace, namespaces } from '@castellan/machinery';
import { realWorld, waitFor } from '@castellan/world';
import { rootCertificatePublisher } from '../src/namespaces/root-certificate.js';
import { FakeApiServer } from './fake-api-server.js';

const quiet = () => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const key = { namespace: 'team', name: 'kube-root-ca.crt' };

test('every namespace has the root certificate: those that are there, and those that come', async (t) => {
  const server = await serverWith('team');
  publish(server, t);
  await isPublished(server, 'team');
  await server.add(namespaces, { metadata: { name: 'late' } });
  await isPublished(server, 'late');
});

test('a lost root certificate is published again, and a changed one put right', async (t) => {
  const server = await serverWith('team');
  publish(server, t);
  await isPublished(server, 'team');
  await server.delete(configMaps, key);
  await isPublished(server, 'team');
  await server.patch(configMaps, key, { type: 'merge', body: { data: { 'ca.crt': 'forged' } } });
  await isPublished(server, 'team');
});

test('a publisher that starts where all is published writes nothing, and other ConfigMaps are nothing to it', async (t) => {
  const server = await serverWith('team');
  await server.add(configMaps, { metadata: key, data: { 'ca.crt': 'PEM' } });
  await server.add(configMaps, { metadata: { namespace: 'team', name: 'other' }, data: { 'ca.crt': 'mine' } });
  publish(server, t);
  await server.add(namespaces, { metadata: { name: 'late' } });
  await isPublished(server, 'late');
  assert.deepEqual(server.writes, ['create configmaps late/kube-root-ca.crt']);
});

test('a refused write is tried again; a namespace that is being deleted gets none', async (t) => {
  const server = await serverWith('team');
  const held: Namespace = { metadata: { name: 'going', finalizers: ['held'] } };
  await server.add(namespaces, held);
  await server.delete(namespaces, { name: 'going' });
  let refusals = 3;
  server.beforeWrite = () => {
    if (refusals-- > 0) throw new Error('the disk is full');
  };
  publish(server, t);
  await isPublished(server, 'team');
  assert.deepEqual(server.namesOf(configMaps), ['team/kube-root-ca.crt']);
});

async function serverWith(namespace: string): Promise<FakeApiServer> {
  const server = new FakeApiServer();
  await server.add(namespaces, { metadata: { name: namespace } });
  return server;
}

function publish(server: FakeApiServer, t: { after(stop: () => Promise<void>): void }): void {
  const stop = new AbortController();
  const running = rootCertificatePublisher({ client: server, world: realWorld(), log }, 'PEM').run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
    assert.equal(server.openWatches, 0);
  });
}

async function isPublished(server: FakeApiServer, namespace: string): Promise<void> {
  const look = async () => (await server.find(configMaps, { ...key, namespace }))?.data?.['ca.crt'] === 'PEM';
  await waitFor(realWorld(), look, { what: `the certificate in ${namespace}`, deadlineMs: 30_000, everyMs: 2 });
}
