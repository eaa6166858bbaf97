import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Client } from '@castellan/client';
import {
  formatKey,
  type KubernetesObject,
  keyOf,
  nodes,
  type ObjectKey,
  type PersistentVolume,
  type PersistentVolumeClaim,
  persistentVolumeClaims,
  persistentVolumes,
  type ResourceType,
  StatusError,
  type StorageClass,
  storageClasses,
} from '@castellan/machinery';
import type { Controller, EventNote, Reader, ReconcileContext } from '@castellan/runtime';
import { simulatedWorld } from '@castellan/world';
import { localProvisionerController } from './local-provisioner.js';
import { localReclaimController } from './local-reclaim.js';
import { VolumeDirectories } from './volume-directories.js';

const uid = '00000000-0000-4000-8000-000000000001';
const name = `pvc-${uid}`;
const key = { namespace: 'team', name: 'data' };
const leftovers = { name: 'leftovers' };

const claim: PersistentVolumeClaim = {
  metadata: {
    ...key,
    uid,
    annotations: {
      'volume.kubernetes.io/storage-provisioner': 'castellan.dev/local',
      'volume.kubernetes.io/selected-node': 'here',
    },
  },
  spec: { storageClassName: 'local', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } },
};
const storageClass: StorageClass = {
  metadata: { name: 'local' },
  provisioner: 'castellan.dev/local',
  volumeBindingMode: 'WaitForFirstConsumer',
};

/** Real directories beneath objects that the test puts there by hand. */
class Bench {
  readonly writes: string[] = [];
  readonly notes: EventNote[] = [];
  readonly volumes: VolumeDirectories;
  refusal: Error | undefined;
  readonly #objects = new Map<string, KubernetesObject>();

  constructor(t: TestContext) {
    const directory = mkdtempSync(join(tmpdir(), 'castellan-provisioner-'));
    t.after(() => rmSync(directory, { recursive: true }));
    this.volumes = new VolumeDirectories(directory);
    this.put(storageClasses, storageClass);
  }

  put<T extends KubernetesObject>(type: ResourceType<T>, object: T): void {
    this.#objects.set(`${type.plural} ${formatKey(keyOf(object))}`, object);
  }

  remove(type: ResourceType, of: ObjectKey): void {
    this.#objects.delete(`${type.plural} ${formatKey(of)}`);
  }

  get<T extends KubernetesObject>(type: ResourceType<T>, of: ObjectKey): T | undefined {
    return this.#objects.get(`${type.plural} ${formatKey(of)}`) as T | undefined;
  }

  provision(of: ObjectKey) {
    return this.#reconcile(localProvisionerController(this.#options), of);
  }

  reclaim() {
    return this.#reconcile(localReclaimController(this.#options), { name });
  }

  get #options() {
    return { volumes: this.volumes, runningNodes: () => ['here'] };
  }

  #reconcile(controller: Controller, of: ObjectKey) {
    const written = (write: string) => {
      this.writes.push(write);
      if (this.refusal !== undefined) throw this.refusal;
    };
    const client = {
      create: async (type: ResourceType, object: KubernetesObject) => {
        written(`create ${type.plural} ${object.metadata.name}`);
        this.put(type, object);
        return object;
      },
      patch: async (type: ResourceType, { name: of }: ObjectKey) => written(`patch ${type.plural} ${of}`),
      find: async (type: ResourceType, each: ObjectKey) => this.get(type, each),
      delete: async (type: ResourceType, { name: of }: ObjectKey) => written(`delete ${type.plural} ${of}`),
    } as unknown as Client;
    const cache = {
      get: (type: ResourceType, each: ObjectKey) => this.get(type, each),
      list: (type: ResourceType) =>
        [...this.#objects].filter(([id]) => id.startsWith(`${type.plural} `)).map(([, object]) => object),
    } as unknown as Reader;
    const quiet = () => undefined;
    const context: ReconcileContext = {
      ...{ cache, client, world: simulatedWorld(1), signal: new AbortController().signal },
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      events: { record: (_, note) => this.notes.push(note) },
    };
    return controller.reconcile(of, context);
  }
}

test('VO1: a claim has a directory and an object of one name, once', async (t) => {
  const bench = new Bench(t);
  bench.put(persistentVolumeClaims, claim);
  for (let pass = 0; pass < 2; pass += 1) await bench.provision(key);
  assert.deepEqual(bench.writes, [`create persistentvolumes ${name}`]);
  assert.ok(existsSync(bench.volumes.pathOf(name)));
  const made = bench.get<PersistentVolume>(persistentVolumes, { name });
  assert.equal(made?.spec?.local?.path, bench.volumes.pathOf(name));
  assert.equal(made?.spec?.claimRef?.uid, uid);
  assert.deepEqual(
    bench.notes.map(({ reason }) => reason),
    ['Provisioning', 'ProvisioningSucceeded'],
  );
});

test('VO1: a directory whose object was made when we were stopped gets its name by the next pass', async (t) => {
  const bench = new Bench(t);
  bench.put(persistentVolumeClaims, claim);
  bench.refusal = new Error('stopped');
  await assert.rejects(bench.provision(key), /stopped/);
  assert.ok(!existsSync(bench.volumes.pathOf(name)));
  bench.put(persistentVolumes, { metadata: { name } });
  await bench.provision(leftovers);
  assert.ok(existsSync(bench.volumes.pathOf(name)));
});

test('VO3: a directory that was prepared for a claim which went meanwhile is removed', async (t) => {
  const bench = new Bench(t);
  bench.put(persistentVolumeClaims, claim);
  bench.refusal = new Error('stopped');
  await assert.rejects(bench.provision(key), /stopped/);
  await bench.provision(leftovers);
  assert.deepEqual(bench.volumes.prepared(), [name], 'the claim is there still');
  bench.remove(persistentVolumeClaims, key);
  await bench.provision(key);
  assert.deepEqual(bench.volumes.prepared(), []);
});

test('VO2: a claim that another node was first to take is left to it', async (t) => {
  const bench = new Bench(t);
  const { 'volume.kubernetes.io/selected-node': _, ...annotations } = claim.metadata.annotations ?? {};
  bench.put(storageClasses, { ...storageClass, volumeBindingMode: 'Immediate' });
  bench.put(persistentVolumeClaims, { ...claim, metadata: { ...claim.metadata, annotations } });
  bench.refusal = StatusError.of('Conflict', 'it has changed');
  await bench.provision(key);
  assert.deepEqual(bench.writes, ['patch persistentvolumeclaims data']);
  assert.deepEqual(bench.volumes.prepared(), []);
});

test('VO2: a claim whose node is gone for good is given back to the scheduler', async (t) => {
  const bench = new Bench(t);
  const annotations = { ...claim.metadata.annotations, 'volume.kubernetes.io/selected-node': 'there' };
  bench.put(persistentVolumeClaims, { ...claim, metadata: { ...claim.metadata, annotations } });
  bench.put(nodes, { metadata: { name: 'there' } });
  await bench.provision(key);
  assert.deepEqual(bench.writes, []);
  bench.remove(nodes, { name: 'there' });
  await bench.provision(key);
  assert.deepEqual(bench.writes, ['patch persistentvolumeclaims data']);
});

async function released(bench: Bench, change: (volume: PersistentVolume) => PersistentVolume): Promise<void> {
  bench.put(persistentVolumeClaims, claim);
  await bench.provision(key);
  const made = bench.get<PersistentVolume>(persistentVolumes, { name });
  assert.ok(made !== undefined);
  bench.put(persistentVolumes, change({ ...made, status: { phase: 'Released' } }));
  bench.writes.splice(0);
}

test('VO3: the directory of a released volume goes, then its object, then what held it', async (t) => {
  const bench = new Bench(t);
  await released(bench, (volume) => volume);
  await bench.reclaim();
  assert.ok(!existsSync(bench.volumes.pathOf(name)));
  assert.deepEqual(bench.writes, [`delete persistentvolumes ${name}`]);
  const going = bench.get<PersistentVolume>(persistentVolumes, { name });
  bench.put(persistentVolumes, { ...going, metadata: { ...going?.metadata, deletionTimestamp: 't' } });
  await bench.reclaim();
  assert.deepEqual(bench.writes, [`delete persistentvolumes ${name}`, `patch persistentvolumes ${name}`]);
});

const kept: readonly (readonly [string, (volume: PersistentVolume) => PersistentVolume])[] = [
  ['is bound', (volume) => ({ ...volume, status: { phase: 'Bound' } })],
  ['is retained', (volume) => ({ ...volume, spec: { ...volume.spec, persistentVolumeReclaimPolicy: 'Retain' } })],
  ['was made by another provisioner', (volume) => ({ ...volume, metadata: { ...volume.metadata, annotations: {} } })],
  [
    'is of another node',
    (volume) => ({ ...volume, spec: JSON.parse(JSON.stringify(volume.spec).replace('"here"', '"there"')) }),
  ],
];

for (const [what, change] of kept) {
  test(`VO3: the directory of a volume that ${what} stays`, async (t) => {
    const bench = new Bench(t);
    await released(bench, change);
    await bench.reclaim();
    assert.ok(existsSync(bench.volumes.pathOf(name)));
    assert.ok(!bench.writes.includes(`delete persistentvolumes ${name}`));
  });
}

test('VO3: a volume whose path is not its own is told of, and nothing is removed', async (t) => {
  const bench = new Bench(t);
  const elsewhere = mkdtempSync(join(tmpdir(), 'castellan-elsewhere-'));
  t.after(() => rmSync(elsewhere, { recursive: true }));
  await released(bench, (volume) => ({ ...volume, spec: { ...volume.spec, local: { path: elsewhere } } }));
  await assert.rejects(bench.reclaim(), /its path is not /);
  assert.ok(existsSync(elsewhere));
  assert.ok(existsSync(bench.volumes.pathOf(name)));
  assert.deepEqual(bench.writes, []);
  assert.equal(bench.notes.at(-1)?.reason, 'VolumeFailedDelete');
});
