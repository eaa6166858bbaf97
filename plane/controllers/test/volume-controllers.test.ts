import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  type StorageClass,
  storageClasses,
} from '@castellan/machinery';
import { channelSource } from '@castellan/runtime';
import { claimController } from '../src/storage/claim-controller.js';
import { ephemeralClaimController } from '../src/storage/ephemeral-claims.js';
import { volumeController } from '../src/storage/volume-controller.js';
import { Bench } from './bench.js';

const key = { namespace: 'team', name: 'data' };
const accessModes = ['ReadWriteOnce'];
const capacity = { storage: '1Gi' };
const claim: PersistentVolumeClaim = { metadata: key, spec: { accessModes, resources: { requests: capacity } } };
const free: PersistentVolume = {
  metadata: { name: 'v' },
  spec: { accessModes, capacity },
  status: { phase: 'Available' },
};

function benchOf(controller: ConstructorParameters<typeof Bench>[0]): Bench {
  const bench = new Bench(controller);
  for (const type of [persistentVolumeClaims, persistentVolumes, storageClasses]) bench.server.serve(type);
  return bench;
}

const benchOfClaims = () => benchOf(claimController(channelSource({ name: 'test' })));
const benchOfVolumes = () => benchOf(volumeController(channelSource({ name: 'test' })));

test('PV1: claim and volume are bound to each other in four writes, the volume first', async () => {
  const bench = benchOfClaims();
  await bench.server.add(persistentVolumes, free);
  const { metadata } = await bench.server.add(persistentVolumeClaims, claim);
  await bench.reconcile(key);
  assert.deepEqual(bench.server.writes, [
    'patch persistentvolumes v',
    'patch persistentvolumes/status v',
    'patch persistentvolumeclaims team/data',
    'patch persistentvolumeclaims/status team/data',
  ]);
  const volume = await bench.server.get<PersistentVolume>(persistentVolumes, { name: 'v' });
  assert.equal(volume.spec?.claimRef?.uid, metadata.uid);
  assert.deepEqual(volume.metadata.annotations, { 'pv.kubernetes.io/bound-by-controller': 'yes' });
  assert.equal(volume.status?.phase, 'Bound');
  const bound = await bench.server.get<PersistentVolumeClaim>(persistentVolumeClaims, key);
  assert.equal(bound.spec?.volumeName, 'v');
  assert.deepEqual(bound.metadata.annotations, {
    'pv.kubernetes.io/bind-completed': 'yes',
    'pv.kubernetes.io/bound-by-controller': 'yes',
  });
  assert.deepEqual(bound.status, { phase: 'Bound', accessModes, capacity });
  await bench.reconcile(key);
  assert.equal(bench.server.writes.length, 4);
});

for (const stop of [1, 2, 3]) {
  test(`PV4: a binding that was stopped before its write ${stop + 1} is completed by the next pass`, async () => {
    const bench = benchOfClaims();
    await bench.server.add(persistentVolumes, free);
    await bench.server.add(persistentVolumeClaims, claim);
    bench.server.beforeWrite = () => {
      if (bench.server.writes.length === stop) throw new Error('stopped');
    };
    await assert.rejects(bench.reconcile(key), /stopped/);
    bench.server.beforeWrite = undefined;
    await bench.reconcile(key);
    assert.equal(bench.server.writes.length, 4);
    const bound = await bench.server.get<PersistentVolumeClaim>(persistentVolumeClaims, key);
    assert.equal(bound.status?.phase, 'Bound');
  });
}

test('PV1: a provisioner is asked once, under both names of the annotation', async () => {
  const bench = benchOfClaims();
  const storageClass: StorageClass = {
    metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: 'example.com/disks',
    volumeBindingMode: 'Immediate',
  };
  await bench.server.add(storageClasses, storageClass);
  await bench.server.add(persistentVolumeClaims, claim);
  for (let pass = 0; pass < 3; pass += 1) await bench.reconcile(key);
  const asked = await bench.server.get<PersistentVolumeClaim>(persistentVolumeClaims, key);
  assert.equal(asked.spec?.storageClassName, 'fast');
  assert.deepEqual(asked.metadata.annotations, {
    'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disks',
    'volume.kubernetes.io/storage-provisioner': 'example.com/disks',
  });
  assert.deepEqual(
    bench.notes.map(({ reason }) => reason),
    ['ExternalProvisioning'],
  );
});

test('PV1: a claim that waits is woken by free volumes of its class, and by the one that it names', async () => {
  const bench = benchOfClaims();
  await bench.server.add(persistentVolumeClaims, claim);
  const named = { namespace: 'team', name: 'named' };
  await bench.server.add(persistentVolumeClaims, {
    metadata: named,
    spec: { ...claim.spec, storageClassName: 'other', volumeName: 'v' },
  });
  for (const each of [key, named]) await bench.reconcile(each);
  const taken = { ...free, spec: { ...free.spec, claimRef: { namespace: 'team', name: 'third' } } };
  assert.deepEqual(bench.keysFor(persistentVolumes, free), [key, named]);
  assert.deepEqual(bench.keysFor(persistentVolumes, { ...free, metadata: { name: 'w' } }), [key]);
  assert.deepEqual(bench.keysFor(persistentVolumes, taken), [{ namespace: 'team', name: 'third' }, named]);
});

test('PV2: a claim whose volume is gone is Lost, and says so once', async () => {
  const bench = benchOfClaims();
  const annotations = { 'pv.kubernetes.io/bind-completed': 'yes' };
  const status = { phase: 'Bound', accessModes, capacity };
  await bench.server.add(persistentVolumeClaims, {
    metadata: { ...key, annotations },
    spec: { ...claim.spec, volumeName: 'gone' },
    status,
  });
  for (let pass = 0; pass < 2; pass += 1) await bench.reconcile(key);
  const lost = await bench.server.get<PersistentVolumeClaim>(persistentVolumeClaims, key);
  assert.deepEqual(lost.status, { phase: 'Lost' });
  assert.deepEqual(
    bench.notes.map(({ reason }) => reason),
    ['ClaimLost'],
  );
});

test('PV3: nothing is released for a claim that only the cache does not show', async () => {
  const bench = benchOfVolumes();
  await bench.sync();
  const { metadata } = await bench.server.add(persistentVolumeClaims, { ...claim, spec: { volumeName: 'v' } });
  await bench.server.add(persistentVolumes, {
    ...free,
    spec: { ...free.spec, claimRef: { ...key, uid: metadata.uid ?? '' } },
  });
  await bench.reconcile({ name: 'v' });
  assert.equal((await bench.server.get<PersistentVolume>(persistentVolumes, { name: 'v' })).status?.phase, 'Bound');
  await bench.server.delete(persistentVolumeClaims, key);
  await bench.reconcile({ name: 'v' });
  assert.equal((await bench.server.get<PersistentVolume>(persistentVolumes, { name: 'v' })).status?.phase, 'Released');
});

test('PV3: a volume whose claim has another one is free again, or kept for the claim by who chose it', async () => {
  for (const [annotations, expected] of [
    [{ 'pv.kubernetes.io/bound-by-controller': 'yes' }, undefined],
    [{}, key],
  ] as const) {
    const bench = benchOfVolumes();
    const { metadata } = await bench.server.add(persistentVolumeClaims, { ...claim, spec: { volumeName: 'other' } });
    const claimRef = { ...key, uid: metadata.uid ?? '' };
    await bench.server.add(persistentVolumes, {
      metadata: { name: 'v', annotations },
      spec: { ...free.spec, claimRef },
      status: { phase: 'Bound' },
    });
    await bench.reconcile({ name: 'v' });
    const volume = await bench.server.get<PersistentVolume>(persistentVolumes, { name: 'v' });
    assert.deepEqual(volume.spec?.claimRef, expected);
    assert.equal(volume.status?.phase, 'Available');
  }
});

const podKey = { namespace: 'team', name: 'web' };
const volumeClaimTemplate = { metadata: { labels: { app: 'web' } }, spec: { accessModes } };
const pod: Pod = {
  metadata: podKey,
  spec: { containers: [], volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }] },
};

test('PV5: a pod with an ephemeral volume gets a claim of its own, once', async () => {
  const bench = benchOf(ephemeralClaimController());
  const { metadata } = await bench.server.add(pods, pod);
  for (let pass = 0; pass < 2; pass += 1) await bench.reconcile(podKey);
  assert.deepEqual(bench.server.writes, ['create persistentvolumeclaims team/web-scratch']);
  const made = await bench.server.get<PersistentVolumeClaim>(persistentVolumeClaims, {
    namespace: 'team',
    name: 'web-scratch',
  });
  assert.deepEqual(made.metadata.labels, { app: 'web' });
  assert.deepEqual(made.metadata.ownerReferences, [
    { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
  ]);
});

test("PV5: somebody else's claim of that name is left alone, and told of", async () => {
  const bench = benchOf(ephemeralClaimController());
  await bench.server.add(pods, pod);
  await bench.server.add(persistentVolumeClaims, { metadata: { namespace: 'team', name: 'web-scratch' } });
  await assert.rejects(bench.reconcile(podKey));
  assert.deepEqual(bench.server.writes, []);
  assert.deepEqual(bench.notes, [
    {
      type: 'Warning',
      reason: 'FailedBinding',
      message: 'ephemeral volume scratch: PVC team/web-scratch was not created for pod team/web (pod is not owner)',
    },
  ]);
});
