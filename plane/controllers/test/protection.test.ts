import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, persistentVolumeClaims, persistentVolumes, pods } from '@castellan/machinery';
import { claimProtectionController, volumeProtectionController } from '../src/storage/in-use-protection.js';
import { Bench } from './bench.js';

const claim = { namespace: 'team', name: 'data' };

function podWith(claimName: string, phase: string): Pod {
  return {
    metadata: { namespace: 'team', name: 'p' },
    spec: { nodeName: 'n', containers: [], volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] },
    status: { phase },
  };
}

async function deletedClaim(pod?: Pod): Promise<Bench> {
  const bench = new Bench(claimProtectionController());
  bench.server.serve(persistentVolumeClaims);
  await bench.server.add(persistentVolumeClaims, {
    metadata: { ...claim, finalizers: ['kubernetes.io/pvc-protection'] },
  });
  if (pod !== undefined) await bench.server.add(pods, pod);
  await bench.server.delete(persistentVolumeClaims, claim);
  return bench;
}

test('a deleted claim goes when no pod uses it', async () => {
  const bench = await deletedClaim();
  await bench.reconcile(claim);
  assert.deepEqual(bench.server.namesOf(persistentVolumeClaims), []);
});

test('a deleted claim stays while a pod runs with it, and goes when the pod has ended', async () => {
  const running = podWith('data', 'Running');
  const bench = await deletedClaim(running);
  assert.deepEqual(bench.keysFor(pods, running), [claim]);
  await bench.reconcile(claim);
  assert.deepEqual(bench.server.namesOf(persistentVolumeClaims), ['team/data']);
  await bench.server.patch(
    pods,
    { namespace: 'team', name: 'p' },
    { type: 'merge', body: { status: { phase: 'Failed' } } },
  );
  await bench.reconcile(claim);
  assert.deepEqual(bench.server.namesOf(persistentVolumeClaims), []);
});

test('a pod that the cache does not show yet keeps its claim', async () => {
  const bench = await deletedClaim();
  await bench.sync();
  await bench.server.add(pods, podWith('data', 'Pending'));
  await bench.reconcileStale(claim);
  assert.deepEqual(bench.server.namesOf(persistentVolumeClaims), ['team/data']);
});

test('a deleted volume stays while a claim is bound to it', async () => {
  const bench = new Bench(volumeProtectionController());
  bench.server.serve(persistentVolumes);
  const key = { name: 'v' };
  await bench.server.add(persistentVolumes, {
    metadata: { ...key, finalizers: ['kubernetes.io/pv-protection'] },
    status: { phase: 'Bound' },
  });
  await bench.server.delete(persistentVolumes, key);
  await bench.reconcile(key);
  assert.deepEqual(bench.server.namesOf(persistentVolumes), ['v']);
  await bench.server.patch(persistentVolumes, key, { type: 'merge', body: { status: { phase: 'Released' } } });
  await bench.reconcile(key);
  assert.deepEqual(bench.server.namesOf(persistentVolumes), []);
});
