import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusalOf } from './refusal-of.js';
import { type ServerUnderTest, startServer } from './server-under-test.js';

let api: ServerUnderTest;
before(async () => {
  api = await startServer();
});
after(() => api.stop());

const volumes = '/api/v1/persistentvolumes';
const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const storage = '/apis/storage.k8s.io/v1';
const mergePatch = { 'content-type': 'application/merge-patch+json' };

const volume = (spec: object) => ({
  metadata: { name: 'v' },
  spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec },
});
const claim = (spec: object) => ({
  metadata: { name: 'c' },
  spec: { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'], ...spec },
});

test('a persistent volume says where it is, and what is wrong with that is told', async () => {
  assert.deepEqual(await refusalOf(api, volumes, volume({ nfs: {} })), [
    'spec.nfs.server: Required value',
    'spec.nfs.path: Required value',
    'spec.nfs.path: Invalid value: "": must be an absolute path',
  ]);
  assert.deepEqual(await refusalOf(api, volumes, volume({ csi: { driver: 'd', nodePublishSecretRef: {} } })), [
    'spec.csi.volumeHandle: Required value',
    'spec.csi.nodePublishSecretRef.name: Required value',
    'spec.csi.nodePublishSecretRef.namespace: Required value',
  ]);
  assert.deepEqual(await refusalOf(api, volumes, volume({ local: { path: 'a/../b' } })), [
    'spec.local.path: Invalid value: "a/../b": must not contain \'..\'',
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ]);
  assert.deepEqual(
    await refusalOf(api, volumes, volume({ hostPath: { path: '/a' }, nodeAffinity: { required: {} } })),
    ['spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term'],
  );
});

test('where a persistent volume is does not change, and the refusal shows what would', async () => {
  const source = { csi: { driver: 'd.example', volumeHandle: 'h' } };
  assert.equal((await api.send('POST', volumes, volume(source))).status, 201);
  const path = `${volumes}/v`;
  const patch = { spec: { csi: { volumeHandle: 'i' }, volumeMode: 'Block' } };
  const refused = await api.send('PATCH', path, patch, mergePatch);
  assert.equal(
    refused.json.message,
    'PersistentVolume "v" is invalid: [spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\n@@ -22,7 +22,7 @@\n  "StorageOS": null,\n  "CSI": {\n   "Driver": "d.example",\n-  "VolumeHandle": "h",\n+  "VolumeHandle": "i",\n   "ReadOnly": false,\n   "FSType": "",\n   "VolumeAttributes": null,\n, volumeMode: Invalid value: "Block": field is immutable]',
  );
  const named = { spec: { csi: { controllerExpandSecretRef: { name: 's', namespace: 'default' } } } };
  assert.equal((await api.send('PATCH', path, named, mergePatch)).status, 200);
});

test('a claim on data names it in one way', async () => {
  const spec = {
    dataSource: { kind: 'VolumeSnapshot', name: '' },
    dataSourceRef: { kind: 'PersistentVolumeClaim', name: 'b' },
    selector: { matchExpressions: [{ key: 'a', operator: 'In' }] },
  };
  assert.deepEqual(await refusalOf(api, claims, claim(spec)), [
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'spec.dataSource.name: Required value',
    'spec.dataSource: Invalid value: "VolumeSnapshot": must be \'PersistentVolumeClaim\' when referencing the default apiGroup',
    'spec: Invalid value: {}: must match dataSourceRef',
  ]);
});

test('a bound claim that asked for more than it got may ask for less, but not for what it has', async () => {
  const storageClass = { metadata: { name: 'grows' }, provisioner: 'x.example/y', allowVolumeExpansion: true };
  assert.equal((await api.send('POST', `${storage}/storageclasses`, storageClass)).status, 201);
  assert.equal((await api.send('POST', claims, claim({ storageClassName: 'grows' }))).status, 201);
  const status = { phase: 'Bound', capacity: { storage: '1Gi' } };
  assert.equal((await api.send('PATCH', `${claims}/c/status`, { status }, mergePatch)).status, 200);
  const ask = async (amount: string) => {
    const spec = { resources: { requests: { storage: amount } } };
    return (await api.send('PATCH', `${claims}/c`, { spec }, mergePatch)).status;
  };
  assert.deepEqual([await ask('4Gi'), await ask('2Gi'), await ask('1Gi')], [200, 200, 422]);
});

test('a StorageClass says where its volumes may be, each place once', async () => {
  const place = {
    matchLabelExpressions: [
      { key: 'zone', values: ['a', 'a'] },
      { key: 'zone', values: [] },
    ],
  };
  const storageClass = {
    metadata: { name: 's' },
    provisioner: 'a b',
    parameters: { '': 'x' },
    allowedTopologies: [place, place],
  };
  assert.deepEqual((await refusalOf(api, `${storage}/storageclasses`, storageClass)).slice(1), [
    'parameters: Invalid value: "": field can not be empty.',
    'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
    'allowedTopologies[0].matchLabelExpressions[1].values: Required value',
    'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "zone"',
    'allowedTopologies[1].matchLabelExpressions[0].values[1]: Duplicate value: "a"',
    'allowedTopologies[1].matchLabelExpressions[1].values: Required value',
    'allowedTopologies[1].matchLabelExpressions[1].key: Duplicate value: "zone"',
    'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
  ]);
});

test('drivers of volumes are refused with all that is wrong with them', async () => {
  const driver = {
    metadata: { name: 'd' },
    spec: {
      fsGroupPolicy: 'Y',
      tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 1 }],
      volumeLifecycleModes: ['X'],
      nodeAllocatableUpdatePeriodSeconds: 9,
    },
  };
  assert.deepEqual(await refusalOf(api, `${storage}/csidrivers`, driver), [
    'spec.fsGroupPolicy: Unsupported value: "Y": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
    'spec.tokenRequests[2].expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
    'spec.volumeLifecycleModes: Unsupported value: "X": supported values: "Persistent", "Ephemeral"',
    'spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds',
  ]);
  const node = {
    metadata: { name: 'n' },
    spec: {
      drivers: [
        { name: 'a', nodeID: '', allocatable: { count: -1 } },
        { name: 'a', nodeID: 'x', topologyKeys: ['k', 'k'] },
      ],
    },
  };
  assert.deepEqual(await refusalOf(api, `${storage}/csinodes`, node), [
    'spec.drivers[0].nodeID: Required value',
    'spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
    'spec.drivers[1].name: Duplicate value: "a"',
    'spec.drivers[1]: Duplicate value: "k"',
  ]);
});

test('a RuntimeClass is judged by the rules of pods for what it adds to them', async () => {
  const runtime = {
    metadata: { name: 'r' },
    handler: 'h',
    overhead: { podFixed: { cpu: '-1' } },
    scheduling: { tolerations: [{ key: 'a', operator: 'Foo' }] },
  };
  assert.deepEqual(await refusalOf(api, '/apis/node.k8s.io/v1/runtimeclasses', runtime), [
    'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
    'scheduling.tolerations[0].operator: Unsupported value: "Foo": supported values: "Equal", "Exists"',
  ]);
});
