import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMaps,
  type Namespace,
  namespaces,
  pods,
  type ResourceType,
  StatusError,
  serviceAccounts,
} from '@castellan/machinery';
import { defaultAccountController } from '../src/namespaces/default-account.js';
import { namespaceDeletionController } from '../src/namespaces/namespace-deletion.js';
import { Bench } from './bench.js';

const key = { name: 'team' };
const clusters: ResourceType = {
  group: 'example.com',
  version: 'v1',
  kind: 'Cluster',
  plural: 'clusters',
  isNamespaced: true,
};

function inTeam(name: string, finalizers: readonly string[] = []) {
  return { metadata: { namespace: 'team', name, finalizers } };
}

async function accountBench(): Promise<Bench> {
  const bench = new Bench(defaultAccountController());
  await bench.server.add(namespaces, { metadata: key });
  return bench;
}

test('every namespace gets its default account, and a second reconcile writes nothing, however stale its cache', async () => {
  const bench = await accountBench();
  await bench.reconcile(key);
  assert.deepEqual(bench.server.namesOf(serviceAccounts), ['team/default']);
  assert.equal(await bench.reconcileStale(key), undefined);
  const writes = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, writes);
});

test('a lost default account wakes its namespace', async () => {
  const bench = await accountBench();
  assert.deepEqual(bench.keysFor(serviceAccounts, inTeam('default')), [key]);
  assert.deepEqual(bench.keysFor(serviceAccounts, inTeam('robot')), []);
});

test('a namespace that is being deleted gets no account', async () => {
  const bench = await accountBench();
  await bench.server.patch(namespaces, key, { type: 'merge', body: { spec: { finalizers: ['kubernetes'] } } });
  await bench.sync();
  await bench.server.delete(namespaces, key);
  assert.equal(await bench.reconcileStale(key), undefined, 'the refusal is not an error');
  assert.equal(await bench.reconcile(key), undefined);
  assert.deepEqual(bench.server.namesOf(serviceAccounts), []);
});

async function deletionBench(): Promise<Bench> {
  const bench = new Bench(namespaceDeletionController());
  bench.server.serve(clusters);
  const namespace: Namespace = { metadata: key, spec: { finalizers: ['kubernetes'] } };
  await bench.server.add(namespaces, namespace);
  return bench;
}

test('a deleted namespace loses everything in it, custom resources too, and then goes', async () => {
  const bench = await deletionBench();
  await bench.server.add(configMaps, inTeam('config'));
  await bench.server.add(clusters, inTeam('etcd'));
  await bench.server.add(pods, inTeam('pod'));
  await bench.server.add(configMaps, { metadata: { namespace: 'other', name: 'config' } });
  await bench.server.delete(namespaces, key);
  await bench.reconcile(key);
  assert.deepEqual(bench.server.namesOf(configMaps), ['other/config']);
  assert.deepEqual(bench.server.namesOf(clusters), []);
  assert.deepEqual(bench.server.namesOf(namespaces), []);
});

test('a namespace that is not being deleted is not touched', async () => {
  const bench = await deletionBench();
  await bench.server.add(configMaps, inTeam('config'));
  assert.equal(await bench.reconcile(key), undefined);
  assert.deepEqual(bench.server.writes, []);
});

test('what was a deleted namespace in a stale cache is looked at as it is now', async () => {
  const bench = await deletionBench();
  await bench.server.delete(namespaces, key);
  await bench.sync();
  const body = { spec: { finalizers: [] } };
  await bench.server.patch(namespaces, key, { type: 'merge', body });
  await bench.server.add(namespaces, { metadata: key, spec: { finalizers: ['kubernetes'] } });
  await bench.server.add(configMaps, inTeam('of-the-new-one'));
  await bench.reconcileStale(key);
  assert.deepEqual(bench.server.namesOf(configMaps), ['team/of-the-new-one']);
});

test('pods go first; what finalizers hold is named in the conditions, once', async () => {
  const bench = await deletionBench();
  await bench.server.add(pods, inTeam('pod', ['example.com/slow']));
  await bench.server.add(configMaps, inTeam('config'));
  await bench.server.delete(namespaces, key);
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 100 });
  assert.deepEqual(bench.server.namesOf(configMaps), ['team/config']);
  const conditions = (await bench.server.get(namespaces, key)).status?.conditions ?? [];
  const told = conditions.filter(({ status }) => status === 'True').map(({ type, message }) => [type, message]);
  assert.deepEqual(told, [
    ['NamespaceContentRemaining', 'Some resources are remaining: pods. has 1 resource instances'],
    [
      'NamespaceFinalizersRemaining',
      'Some content in the namespace has finalizers remaining: example.com/slow in 1 resource instances',
    ],
  ]);
  assert.equal(conditions.length, 5);

  const writes = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, writes, 'a second reconcile writes nothing');

  await bench.server.patch(
    pods,
    { namespace: 'team', name: 'pod' },
    { type: 'merge', body: { metadata: { finalizers: [] } } },
  );
  await bench.reconcile(key);
  assert.deepEqual(bench.server.namesOf(namespaces), []);
});

test('a kind that cannot be deleted keeps the namespace and is named', async () => {
  const bench = await deletionBench();
  await bench.server.add(clusters, inTeam('etcd'));
  await bench.server.delete(namespaces, key);
  bench.server.beforeWrite = (write) => {
    if (write.startsWith('delete clusters')) throw StatusError.of('InternalError', 'the disk is full');
  };
  await bench.reconcile(key);
  const conditions = (await bench.server.get(namespaces, key)).status?.conditions ?? [];
  const failure = conditions.find(({ type }) => type === 'NamespaceDeletionContentFailure');
  assert.equal(
    failure?.message,
    'Failed to delete all resource types, 1 remaining: clusters.example.com: the disk is full',
  );
});
