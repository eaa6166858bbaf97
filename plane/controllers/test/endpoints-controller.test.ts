import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endpointSlices, endpoints, namespaces, pods, services } from '@castellan/machinery';
import { endpointsController } from '../src/endpoints/endpoints-controller.js';
import { Bench } from './bench.js';
import { pod, service } from './service-objects.js';

const key = { namespace: 'default', name: 'etcd' };

async function benchWithService(): Promise<Bench> {
  const bench = new Bench(endpointsController());
  await bench.server.add(services, service());
  await bench.server.add(pods, pod('etcd-0'));
  return bench;
}

test('a second reconcile writes nothing', async () => {
  const bench = await benchWithService();
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, 2);
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, 2);
});

test('stopped before any one of its writes, it ends in the same state', async () => {
  const whole = await benchWithService();
  await whole.reconcile(key);
  for (let survived = 0; survived < whole.server.writes.length; survived++) {
    const bench = await benchWithService();
    bench.server.beforeWrite = () => {
      if (bench.server.writes.length === survived) throw new Error('stopped');
    };
    await assert.rejects(bench.reconcile(key), /stopped/);
    bench.server.beforeWrite = undefined;
    await bench.reconcile(key);
    assert.deepEqual(bench.server.namesOf(endpointSlices), whole.server.namesOf(endpointSlices));
    assert.deepEqual(bench.server.namesOf(endpoints), whole.server.namesOf(endpoints));
  }
});

test('a cache that does not show its own writes yet makes no second slice', async () => {
  const bench = await benchWithService();
  await bench.reconcile(key);
  assert.deepEqual(await bench.reconcileStale(key), { requeueAfterMs: 20 });
  assert.equal(bench.server.namesOf(endpointSlices).length, 1);
});

test('a pod concerns the services that select it, and those that selected it before its labels changed', async () => {
  const bench = await benchWithService();
  assert.deepEqual(bench.keysFor(pods, pod('etcd-0')), [], 'a service is reconciled first on its own account');
  await bench.reconcile(key);
  assert.deepEqual(bench.keysFor(pods, pod('etcd-7')), [key]);
  assert.deepEqual(bench.keysFor(pods, pod('etcd-0', { labels: { app: 'other' } })), [key]);
  assert.deepEqual(bench.keysFor(pods, pod('etcd-7', { labels: { app: 'other' } })), []);
});

test('when the service is gone its Endpoints go; those that somebody else keeps stay', async () => {
  const bench = await benchWithService();
  await bench.server.add(endpoints, { metadata: { namespace: 'default', name: 'hand-made' } });
  await bench.reconcile(key);
  await bench.server.delete(services, key);
  await bench.reconcile(key);
  await bench.reconcile({ namespace: 'default', name: 'hand-made' });
  assert.deepEqual(bench.server.namesOf(endpoints), ['default/hand-made']);
  assert.deepEqual(bench.keysFor(pods, pod('etcd-0')), []);
});

test('a service without a selector, and one of type ExternalName, are left to others', async () => {
  const bench = new Bench(endpointsController());
  const { selector: _, ...spec } = service().spec ?? {};
  await bench.server.add(services, { ...service(), spec });
  await bench.reconcile(key);
  await bench.server.update(services, { ...service(), spec: { ...service().spec, type: 'ExternalName' } });
  const before = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, before);
});

test('a service that is being deleted, and a namespace that is, get nothing new', async () => {
  const bench = await benchWithService();
  await bench.server.add(namespaces, { metadata: { name: 'default', finalizers: ['held'] } });
  await bench.server.delete(namespaces, { name: 'default' });
  assert.equal(await bench.reconcile(key), undefined);
  assert.deepEqual(bench.server.namesOf(endpointSlices), []);
  const body = { metadata: { finalizers: ['held'] } };
  await bench.server.patch(services, key, { type: 'merge', body });
  await bench.server.delete(services, key);
  const before = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, before);
});
