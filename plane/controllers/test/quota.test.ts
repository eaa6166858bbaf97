import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  configMaps,
  type Pod,
  persistentVolumeClaims,
  pods,
  type ResourceQuota,
  resourceQuotas,
} from '@castellan/machinery';
import { resourceQuotaController } from '../src/quota/quota-controller.js';
import { Bench } from './bench.js';

const key = { namespace: 'team', name: 'limits' };

function quota(hard: Readonly<Record<string, string>>, status?: ResourceQuota['status']): ResourceQuota {
  return { metadata: { ...key, uid: 'uid-limits' }, spec: { hard }, ...(status === undefined ? {} : { status }) };
}

function pod(name: string, cpu: string, phase = 'Running', namespace = 'team'): Pod {
  const containers = [{ name: 'c', resources: { requests: { cpu } } }];
  return { metadata: { namespace, name, uid: `uid-${name}` }, spec: { containers }, status: { phase } };
}

async function benchWith(hard: Readonly<Record<string, string>>, status?: ResourceQuota['status']): Promise<Bench> {
  const bench = new Bench(resourceQuotaController());
  for (const type of [resourceQuotas, persistentVolumeClaims]) bench.server.serve(type);
  await bench.server.add(resourceQuotas, quota(hard, status));
  return bench;
}

const usedOf = async (bench: Bench) => (await bench.server.get(resourceQuotas, key)).status?.used;

test('RQ1 what the namespace uses is told of each resource that the quota names, in its own namespace only', async () => {
  const hard = { pods: '5', 'requests.cpu': '4', 'requests.storage': '1Gi' };
  const bench = await benchWith(hard, { hard: {}, used: { pods: '9' } });
  for (const each of [pod('a', '1'), pod('b', '500m'), pod('c', '1', 'Succeeded'), pod('d', '1', 'Running', 'other')]) {
    await bench.server.add(pods, each);
  }
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 300_000 });
  assert.deepEqual((await bench.server.get(resourceQuotas, key)).status, {
    hard,
    used: { pods: '2', 'requests.cpu': '1500m', 'requests.storage': '0' },
  });
  const before = bench.server.writes.length;
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, before, 'a second look writes nothing');
});

test('RQ1 kinds that nobody watches here are counted on the server, and again after a while', async () => {
  const bench = await benchWith({ 'count/configmaps': '5', pods: '1' });
  for (const name of ['a', 'b']) await bench.server.add(configMaps, { metadata: { namespace: 'team', name } });
  assert.deepEqual(await bench.reconcile(key), { requeueAfterMs: 15_000 });
  assert.deepEqual(await usedOf(bench), { 'count/configmaps': '2', pods: '0' });
});

test('RQ2 what the API server counted in between is not overwritten: it is counted anew', async () => {
  const bench = await benchWith({ pods: '5' });
  await bench.sync();
  await bench.server.update(resourceQuotas, quota({ pods: '5' }, { hard: { pods: '5' }, used: { pods: '1' } }));
  assert.deepEqual(await bench.reconcileStale(key), { requeueAfterMs: 50 });
  assert.deepEqual(await usedOf(bench), { pods: '1' });
});

test('RQ3 a pod that comes, ends or goes asks for another look of the quotas of its namespace', async () => {
  const bench = await benchWith({ pods: '5' });
  assert.deepEqual(bench.keysFor(pods, pod('a', '1')), [], 'a quota is looked at first on its own account');
  await bench.reconcile(key);
  assert.deepEqual(bench.keysFor(pods, pod('a', '1')), [key]);
  assert.deepEqual(bench.keysFor(pods, pod('a', '1', 'Running', 'other')), []);
});
